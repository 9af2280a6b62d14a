import { type Static, Type } from "@sinclair/typebox";
import type { AgentSnapshot, ToolSnapshot } from "../core/agent-snapshot.ts";
import type { Fault } from "../core/errors.ts";
import { limits } from "../core/limits.ts";
import { fault, invalid, refuse } from "../http/errors.ts";
import { JsonObject } from "../http/schemas.ts";
import { exact, named } from "../lib/schema.ts";
import { objectSchema } from "../tools/definition.ts";
import { schemaFaults } from "../tools/types/fields.ts";
import { commonFields } from "../tools/types/tool-kind.ts";

/** A tool that a request brings along: its calls are the client's to make. Nothing of it could be reached from here. */
export const RequestTool = named(
  "RequestTool",
  exact({
    type: Type.Literal("client"),
    name: commonFields.name,
    description: Type.Optional(commonFields.description),
    parameters: Type.Optional(JsonObject),
  }),
);
export type RequestTool = Static<typeof RequestTool>;

/** The agent with the tools of a request beside its own; throws for what they cannot be. */
export function withRequestTools(agent: AgentSnapshot, given: readonly RequestTool[] = []): AgentSnapshot {
  if (given.length === 0) return agent;
  const faults: Fault[] = [];
  const count = agent.tools.length + given.length;
  if (count > limits.tools_per_agent)
    faults.push(
      fault(
        "tools",
        `Together with the agent's own tools these are ${count}; at most ${limits.tools_per_agent} are allowed.`,
      ),
    );
  const names = new Set(agent.tools.map(({ name }) => name));
  for (const [index, { name, parameters }] of given.entries()) {
    if (names.has(name)) faults.push(fault(`tools[${index}].name`, "Another tool of the run has this name."));
    names.add(name);
    faults.push(...schemaFaults(parameters, `tools[${index}].parameters`));
  }
  refuse(faults);
  return { ...agent, tools: [...agent.tools, ...given.map(snapshotOf)] };
}

/** Another version of an agent with what the request of a run brought along, but for names that it has by now itself. */
export function withToolsOf(agent: AgentSnapshot, pinned: AgentSnapshot): AgentSnapshot {
  const names = new Set(agent.tools.map(({ name }) => name));
  const kept = pinned.tools.filter(({ of_request, name }) => of_request && !names.has(name));
  return kept.length > 0 ? { ...agent, tools: [...agent.tools, ...kept] } : agent;
}

/** Throws where the model is told to call a tool that the run does not have. */
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
