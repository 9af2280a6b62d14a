import type { AgentSnapshot } from "../../domain/agent-snapshot.ts";
import type { RunCreated } from "../../domain/run-event.ts";
import {
  hasTexts,
  teamDeclaredIssues,
  teamFitsPrompt,
  teamFittingValues,
  teamMissingIssues,
  teamValueIssues,
} from "../../domain/team-variables.ts";
import type { VariableValues } from "../../domain/variable.ts";
import { fault, invalid, throwIfInvalid } from "../../http/errors.ts";

type Given = VariableValues | null | undefined;

/** Values of a run, by where they come from. */
interface Sources {
  /** Values of the request: unknown names and other types are refused. */
  request: Given;
  /** Values of the thread, or of the run before a fork: those that the agent does not have are left out. */
  before: Given;
  /**
   * Values of the client token, which go before all others: unknown names are left out, because the agent may have
   * changed since; other types are refused, because the agent must not answer without what its token says.
   */
  token?: Given;
}

/**
 * Returns the values that a run records: none for an agent without variables. They are those of the agent, and of every
 * agent that it may hand over to. Throws if the request names an unknown variable, if it or the client token has another
 * type, or if a required variable has no value. `path` is the field of the request.
 */
export function runVariables(
  agent: AgentSnapshot,
  { request, before, token }: Sources,
  path = "variables",
): Pick<RunCreated, "variables"> {
  const wrong = teamValueIssues(agent, request ?? {});
  throwIfInvalid(wrong.map(({ name, message }) => fault(`${path}.${name}`, message)));
  if (!hasTexts(agent)) return {};
  const unfit = teamDeclaredIssues(agent, token ?? {});
  throwIfInvalid(unfit.map(({ name, message }) => fault(`${path}.${name}`, `In the client token: ${message}`)));
  const values = { ...teamFittingValues(agent, before ?? {}), ...request, ...teamFittingValues(agent, token ?? {}) };
  const missing = teamMissingIssues(agent, values);
  throwIfInvalid(missing.map(({ name, message }) => fault(`${path}.${name}`, message, "required")));
  if (!teamFitsPrompt(agent, values)) throw invalid(path, "The instructions become too long with these values.");
  return Object.keys(values).length > 0 ? { variables: values } : {};
}
