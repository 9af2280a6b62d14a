import type { ApprovalRule, ToolSnapshot, ToolType } from "../core/agent-snapshot.ts";
import type { JsonSchema } from "../core/model-call.ts";
import type { UpdateTool } from "./schema.ts";
import type { CodeDefinition } from "./types/code.ts";
import type { McpDefinition } from "./types/mcp.ts";
import type { HttpDefinition } from "./types/request.ts";
import { toolKinds } from "./types/tool-kinds.ts";

/** What stands in a tool's row, but for its name and its secrets. Rows of earlier versions lack what is optional. */
export interface Definition {
  description: string;
  /** Of no meaning where the type or the source says what the parameters are: `parametersOf` knows. */
  parameters: JsonSchema;
  approval: ApprovalRule;
  on_unknown: ToolSnapshot["on_unknown"];
  max_output_bytes: number;
  enabled: boolean;
  /** Of http and webhook tools. */
  http: HttpDefinition | null;
  code?: CodeDefinition;
  mcp?: McpDefinition;
  agent?: { agent_id: string };
}

const defaults: Definition = {
  description: "",
  parameters: { type: "object", properties: {} },
  approval: "never",
  on_unknown: "ask",
  max_output_bytes: 262_144,
  enabled: true,
  http: null,
};

/** A definition with changes, over an earlier one or over the defaults. */
export function changed(input: UpdateTool, type: ToolType, before: Definition | null): Definition {
  const base = before ?? defaults;
  const after: Definition = {
    description: input.description ?? base.description,
    parameters: input.parameters ? ofObject(input.parameters) : base.parameters,
    approval: (input.approval as ApprovalRule | undefined) ?? base.approval,
    on_unknown: input.on_unknown ?? base.on_unknown,
    max_output_bytes: input.max_output_bytes ?? base.max_output_bytes,
    enabled: input.enabled ?? base.enabled,
    http: null,
    ...toolKinds[type].change(input, before),
  };
  // Parameters of a source that is gone say nothing of the next one.
  return fixedParameters(type, after) === undefined ? after : { ...after, parameters: defaults.parameters };
}

/** Clients leave out what goes without saying, and providers refuse a schema that does not say it. */
const ofObject = (parameters: JsonSchema): JsonSchema =>
  parameters.type === undefined ? { ...defaults.parameters, ...parameters } : parameters;

const fixedParameters = (type: ToolType, definition: Definition): JsonSchema | null | undefined =>
  toolKinds[type].fixedParameters?.(definition);

/** What a call's arguments must fit; null for a whole MCP server, each of whose tools has its own. */
export function parametersOf(type: ToolType, definition: Definition): JsonSchema | null {
  const fixed = fixedParameters(type, definition);
  return fixed === undefined ? definition.parameters : fixed;
}
