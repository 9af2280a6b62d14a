import { type Static, Type } from "@sinclair/typebox";
import type { AgentSnapshot, ToolSnapshot } from "../../domain/agent-snapshot.ts";
import type { Fault } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import { withFreeName } from "../../domain/tool-search/search-tool.ts";
import { fault, invalid, throwIfInvalid } from "../../http/errors.ts";
import { JsonObject } from "../../http/schemas.ts";
import { about, closedObject, named } from "../../lib/schema.ts";
import { objectSchema } from "../../resources/tools/definition.ts";
import { schemaFaults } from "../../resources/tools/types/fields.ts";
import { commonFields } from "../../resources/tools/types/tool-kind.ts";

/** A tool declared in the request, whose calls the client executes. */
export const RequestTool = named(
  "RequestTool",
  closedObject({
    type: about("Always `client`: your program carries the call out, and submits its output.", Type.Literal("client")),
    name: commonFields.name,
    description: about(
      "What the tool does, and when to call it; the model reads it.",
      Type.Optional(commonFields.description),
    ),
    parameters: about("The JSON Schema of the arguments.", Type.Optional(JsonObject)),
  }),
);
export type RequestTool = Static<typeof RequestTool>;

/** Returns the agent with the request's tools added. Throws if they are invalid. */
export function withRequestTools(agent: AgentSnapshot, requestTools: readonly RequestTool[] = []): AgentSnapshot {
  if (requestTools.length === 0) return agent;
  const faults: Fault[] = [];
  const own = agent.tools.filter(({ type }) => type !== "tool_search");
  const count = own.length + requestTools.length;
  if (count > limits.tools_per_agent)
    faults.push(
      fault(
        "tools",
        `Together with the agent's own tools these are ${count}; at most ${limits.tools_per_agent} are allowed.`,
      ),
    );
  const names = new Set(own.map(({ name }) => name));
  for (const [index, { name, parameters }] of requestTools.entries()) {
    if (names.has(name)) faults.push(fault(`tools[${index}].name`, "Another tool of the run has this name."));
    names.add(name);
    faults.push(...schemaFaults(parameters, `tools[${index}].parameters`));
  }
  throwIfInvalid(faults);
  return withFreeName({ ...agent, tools: [...agent.tools, ...requestTools.map(snapshotOf)] });
}

/**
 * Returns another version of the agent with the pinned run's request tools, except names that this version uses itself.
 */
export function withToolsOf(agent: AgentSnapshot, pinned: AgentSnapshot): AgentSnapshot {
  const names = new Set(agent.tools.flatMap(({ type, name }) => (type === "tool_search" ? [] : [name])));
  const kept = pinned.tools.filter(({ of_request, name }) => of_request && !names.has(name));
  return kept.length > 0 ? withFreeName({ ...agent, tools: [...agent.tools, ...kept] }) : agent;
}

/** Throws if `tool_choice` names a tool that the run does not have. */
export function requireChosenTool({ tools, settings: { tool_choice } }: AgentSnapshot): void {
  if (typeof tool_choice !== "object" || tools.some(({ name }) => name === tool_choice.name)) return;
  throw invalid("overrides.model_settings.tool_choice.name", "The run has no tool of this name.");
}

const snapshotOf = ({ name, description = "", parameters = {} }: RequestTool): ToolSnapshot => ({
  id: name,
  name,
  description,
  parameters: objectSchema(parameters),
  type: "client",
  approval: "never",
  idempotent: false,
  on_unknown: "ask",
  max_output_bytes: limits.tool_output_bytes,
  http: null,
  of_request: true,
});
