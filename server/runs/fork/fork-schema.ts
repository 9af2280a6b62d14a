import { type Static, Type } from "@sinclair/typebox";
import { limits } from "../../domain/limits.ts";
import { agentFields, JsonObject, RunInput } from "../../http/schemas.ts";
import { closedObject, named, oneOf } from "../../lib/schema.ts";
import { CreateRun } from "../schema.ts";

const ModelOutput = named(
  "ModelOutputEdit",
  closedObject({
    content: Type.Optional(Type.String({ maxLength: limits.input_bytes })),
    tool_calls: Type.Optional(
      Type.Array(
        named(
          "ToolCallEdit",
          closedObject({ name: Type.String({ minLength: 1, maxLength: 128 }), arguments: JsonObject }),
        ),
        {
          maxItems: limits.tools_per_agent,
        },
      ),
    ),
  }),
);

const { budget, timeout_ms, action_timeout_ms, on_disconnect, on_concurrency_limit, metadata, stream } =
  CreateRun.properties;

const forkTools = ["live", "recorded_then_live", "recorded_only"] as const;

/** Body of `POST /v1/runs/:id/fork` (contract, section 16). */
export const ForkRun = closedObject({
  step_index: Type.Integer({ minimum: -1, maximum: 1_000_000 }),
  edits: Type.Optional(
    named(
      "ForkEdits",
      closedObject({
        tool_output: Type.Optional(Type.Unknown()),
        /** True if `tool_output` is an error. */
        is_error: Type.Optional(Type.Boolean()),
        model_output: Type.Optional(Type.Union([Type.String({ maxLength: limits.input_bytes }), ModelOutput])),
        instructions: Type.Optional(Type.String({ maxLength: limits.instructions_bytes })),
        model: Type.Optional(agentFields.model),
        input: Type.Optional(RunInput),
      }),
    ),
  ),
  tools: Type.Optional(oneOf(forkTools)),
  agent: Type.Optional(oneOf(["pinned", "current"])),
  budget,
  timeout_ms,
  action_timeout_ms,
  on_disconnect,
  on_concurrency_limit,
  metadata,
  stream,
});
export type ForkRun = Static<typeof ForkRun>;
