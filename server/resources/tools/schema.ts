import { type Static, type TObject, Type } from "@sinclair/typebox";
import { type ApprovalRule, type ToolType, toolTypes, unknownPolicies } from "../../domain/agent-snapshot.ts";
import { CodedError, choiceOf, envelope, resource, told } from "../../domain/api-types/schema.ts";
import { FileFacts } from "../../domain/run-event.ts";
import { JsonObject } from "../../http/schemas.ts";
import * as t from "../../lib/schema.ts";
import { commonFields } from "./types/tool-kind.ts";
import { type ResponseFields, responseFields, typeFields } from "./types/tool-kinds.ts";

const fields = { ...commonFields, ...typeFields };

const { name, ...others } = fields;

export const CreateTool = t.partly({ name, type: Type.Optional(t.oneOf(toolTypes)) }, others);
export type CreateTool = Static<typeof CreateTool>;

/** The type cannot be changed, because calls would change their meaning. */
export const UpdateTool = t.partial(fields);
export type UpdateTool = Static<typeof UpdateTool>;

/** Body of `POST /v1/tools/:id/test`; `tool` names one of an MCP server's tools. */
export const TestTool = t.closedObject({
  arguments: JsonObject,
  tool: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
});
export type TestTool = Static<typeof TestTool>;

export const toolFilters = { type: t.oneOf(toolTypes) };

const shared = {
  name: t.text,
  type: t.oneOf(toolTypes),
  description: t.text,
  parameters: t.orNull(t.anyObject),
  approval: t.withType<ApprovalRule>(
    Type.Union([t.oneOf(["never", "always"]), t.named("ToolApproval", t.object({ when: t.optional(t.anyObject) }))]),
  ),
  on_unknown: t.oneOf(unknownPolicies),
  max_output_bytes: t.integer,
  enabled: t.boolean,
  updated_at: t.time,
};
const ofType = (type: ToolType) =>
  resource(`${type[0]!.toUpperCase()}${type.slice(1)}Tool`, "tool", {
    ...shared,
    type: t.word(type),
    ...responseFields(type),
  });
const ofAnyType = resource("Tool", "tool", shared);

/** A tool of any type, as a flat object; fields of other types are absent. */
export const Tool = Type.Unsafe<Static<typeof ofAnyType> & Partial<Static<TObject<ResponseFields>>>>(
  choiceOf("Tool", "type", Object.fromEntries(toolTypes.map((type) => [type, ofType(type)]))),
);
export type Tool = Static<typeof Tool>;

export const ToolTest = t.named(
  "ToolTest",
  t.object({
    output: t.anything,
    error: t.orNull(CodedError),
    attempts: t.integer,
    latency_ms: t.integer,
    files: t.optional(t.list(told(FileFacts))),
    ...envelope,
  }),
);
export type ToolTest = Static<typeof ToolTest>;
