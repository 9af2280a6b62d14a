import { type Static, Type } from "@sinclair/typebox";
import { type ApprovalRule, type ToolType, toolTypes, unknownPolicies } from "../../domain/agent-snapshot.ts";
import { AttemptsCount, Duration, Enabled, objectOf, ToolName, UpdatedAt } from "../../domain/api-types/fields.ts";
import { choiceOf, ErrorOrNull, envelope, resource, told } from "../../domain/api-types/schema.ts";
import { FileFacts } from "../../domain/run-event.ts";
import { pascal } from "../../http/openapi-components.ts";
import { GivenArguments, JsonObject, Subject } from "../../http/schemas.ts";
import { nameFilter, setResult } from "../../http/set-by-name.ts";
import * as t from "../../lib/schema.ts";
import { commonFields } from "./types/tool-kind.ts";
import { responseFields, type TypeOutput, typeFields } from "./types/tool-kinds.ts";

const fields = { ...commonFields, ...typeFields };
const { name, ...others } = fields;

export const CreateTool = t.partly(
  {
    name: t.about("Its unique name: 1 to 64 letters, digits, `_` and `-`.", name),
    type: t.about(
      "What calls of the tool do. It cannot be changed. Default: `http` where there is a `url`, else `client`.",
      Type.Optional(t.oneOf(toolTypes)),
    ),
  },
  {
    ...others,
    timeout_ms: t.about(
      "How long an attempt may take, in milliseconds. Default: 30000, for code 5000.",
      fields.timeout_ms,
    ),
    idempotent: t.about(
      "Whether a call is safe to repeat. Default: true for GET, HEAD, PUT and DELETE.",
      fields.idempotent,
    ),
  },
);
export type CreateTool = Static<typeof CreateTool>;

/** Body of `PUT /v1/tools/by-name/:name`. */
export const SyncTool = Type.Omit(CreateTool, ["name"], { additionalProperties: false });
export type SyncTool = Static<typeof SyncTool>;

/** The type cannot be changed, because calls would change their meaning. */
export const UpdateTool = t.partial({
  ...fields,
  headers: t.about(
    "Headers of every call. One sent as `********` keeps its value, unless the origin of the URL changes.",
    fields.headers,
  ),
});
export type UpdateTool = Static<typeof UpdateTool>;

/** Body of `POST /v1/tools/:id/test`; `name` names one of an MCP server's tools. */
export const TestTool = t.closedObject({
  arguments: t.about(GivenArguments, JsonObject),
  name: t.about("The name of the MCP server's tool.", Type.Optional(Type.String({ minLength: 1, maxLength: 256 }))),
  user_id: t.about("The user for whom the tool is called, if its OAuth client is per user.", Type.Optional(Subject)),
});
export type TestTool = Static<typeof TestTool>;

export const toolFilters = {
  ...nameFilter,
  type: t.about("Only items of this type.", t.oneOf(toolTypes)),
};

const shared = {
  name: ToolName,
  type: t.oneOf(toolTypes),
  description: t.about("What the tool is for; the model reads it.", t.text),
  parameters: t.about(
    "The JSON Schema (2020-12) of the arguments. Arguments that do not match are returned to the model as an error.",
    t.orNull(t.anyObject),
  ),
  approval: t.about(
    "Whether a person decides before each call.",
    t.withType<ApprovalRule>(
      Type.Union([
        t.oneOf(["never", "always"]),
        t.named(
          "ToolApproval",
          t.object({
            when: t.about(
              "A JSON Schema of the arguments: calls that match it need approval.",
              t.optional(t.anyObject),
            ),
          }),
        ),
      ]),
    ),
  ),
  on_unknown: t.about(
    "What happens when it is unknown whether an interrupted call took place.",
    t.oneOf(unknownPolicies),
  ),
  max_output_bytes: t.about("How many bytes of an output the model reads.", t.integer),
  enabled: Enabled,
  updated_at: UpdatedAt,
};
const ofType = (type: ToolType) =>
  resource(`${pascal(type)}Tool`, "tool", {
    ...shared,
    type: t.about(`Always \`${type}\`: it says what a call does, and which other fields there are.`, t.word(type)),
    ...responseFields(type),
  });
const ofAnyType = resource("Tool", "tool", shared);

/** A tool of any type, as a flat object; fields of other types are absent. */
export const Tool = Type.Unsafe<Static<typeof ofAnyType> & TypeOutput>(
  choiceOf("Tool", "type", Object.fromEntries(toolTypes.map((type) => [type, ofType(type)]))),
);
export type Tool = Static<typeof Tool>;

export const ToolSync = t.named(
  "ToolSync",
  t.object({
    object: objectOf("tool_sync"),
    ...setResult,
    tool: t.about("The tool as it is now, or would be with `dry_run`.", Tool),
    ...envelope,
  }),
);
export type ToolSync = Static<typeof ToolSync>;

export const ToolTest = t.named(
  "ToolTest",
  t.object({
    output: t.about("What the tool returned; null where it failed.", t.anything),
    error: ErrorOrNull,
    attempts: AttemptsCount,
    latency_ms: Duration,
    files: t.about("Files that the call made.", t.optional(t.list(told(FileFacts)))),
    ...envelope,
  }),
);
export type ToolTest = Static<typeof ToolTest>;
