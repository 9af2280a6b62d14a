import type { ApprovalRule, ToolType } from "../../domain/agent-snapshot.ts";
import type { JsonSchema } from "../../domain/model-call.ts";
import type { UpdateTool } from "./schema.ts";
import type { Definition } from "./types/tool-kind.ts";
import { toolKinds } from "./types/tool-kinds.ts";

const defaults: Definition = {
  description: "",
  parameters: { type: "object", properties: {} },
  approval: "never",
  on_unknown: "ask",
  max_output_bytes: 262_144,
  enabled: true,
  http: null,
};

/** Applies changes to an earlier definition or to the defaults. */
export function changed(input: UpdateTool, type: ToolType, before: Definition | null): Definition {
  const base = before ?? defaults;
  const after: Definition = {
    description: input.description ?? base.description,
    parameters: input.parameters ? objectSchema(input.parameters) : base.parameters,
    approval: (input.approval as ApprovalRule | undefined) ?? base.approval,
    on_unknown: input.on_unknown ?? base.on_unknown,
    max_output_bytes: input.max_output_bytes ?? base.max_output_bytes,
    enabled: input.enabled ?? base.enabled,
    http: null,
    ...toolKinds[type].change(input, before),
  };
  // Parameters of a former source do not apply to the next one.
  return fixedParameters(type, after) === undefined ? after : { ...after, parameters: defaults.parameters };
}

/** Adds `type: "object"`: clients omit it, and providers refuse a schema without it. */
export const objectSchema = (parameters: JsonSchema): JsonSchema =>
  parameters.type === undefined ? { ...defaults.parameters, ...parameters } : parameters;

const fixedParameters = (type: ToolType, definition: Definition): JsonSchema | null | undefined =>
  toolKinds[type].fixedParameters?.(definition);

/** Parameter schema of a tool; null for an MCP server, whose tools each have their own. */
export function parametersOf(type: ToolType, definition: Definition): JsonSchema | null {
  const fixed = fixedParameters(type, definition);
  return fixed === undefined ? definition.parameters : fixed;
}
