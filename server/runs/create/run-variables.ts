import type { AgentSnapshot } from "../../domain/agent-snapshot.ts";
import type { Fault } from "../../domain/errors.ts";
import type { RunCreated } from "../../domain/run-event.ts";
import type { VariableValues } from "../../domain/variable.ts";
import { fitsPrompt, fittingValues, missingVariables, valueIssues } from "../../domain/variables.ts";
import { fault, invalid, throwIfInvalid } from "../../http/errors.ts";

type Given = VariableValues | null | undefined;

/** Values of a run, by where they come from. */
interface Sources {
  /** Values of the request: unknown names and other types are refused. */
  request: Given;
  /** Values of the thread, or of the run before a fork: those that the agent does not have are left out. */
  before: Given;
  /** Values of the client token, which go before all others. */
  token?: Given;
}

/**
 * Returns the values that a run records: none for an agent without variables. Throws if the request names an unknown
 * variable or has another type, or if a required variable has no value. `path` is the field of the request.
 */
export function runVariables(
  agent: AgentSnapshot,
  { request, before, token }: Sources,
  path = "variables",
): Pick<RunCreated, "variables"> {
  const { variables = [] } = agent;
  const wrong = valueIssues(variables, request ?? {}).map(({ name, message }) => fault(`${path}.${name}`, message));
  throwIfInvalid(wrong);
  if (variables.length === 0 && !agent.snippets) return {};
  const values = { ...fittingValues(variables, before ?? {}), ...request, ...fittingValues(variables, token ?? {}) };
  throwIfInvalid(missingVariables(variables, values).map(({ name }) => missingFault(`${path}.${name}`, name)));
  if (!fitsPrompt(agent, values)) throw invalid(path, "The instructions become too long with these values.");
  return Object.keys(values).length > 0 ? { variables: values } : {};
}

const missingFault = (param: string, name: string): Fault =>
  fault(param, `The agent needs a value of the variable ${name}.`, "required");
