import { type Static, Type } from "@sinclair/typebox";
import { limits } from "../../domain/limits.ts";
import { replayAgents } from "../../domain/run-event.ts";
import { GivenArguments, JsonObject, overridableFields, RunInput, VariableValues } from "../../http/schemas.ts";
import { about, closedObject, named, oneOf } from "../../lib/schema.ts";
import { CreateRun } from "../schema.ts";

const ModelOutput = named(
  "ModelOutputEdit",
  closedObject({
    content: about("What the model said instead.", Type.Optional(Type.String({ maxLength: limits.input_bytes }))),
    tool_calls: about(
      "The tools that it asked for instead.",
      Type.Optional(
        Type.Array(
          named(
            "ToolCallEdit",
            closedObject({
              name: about("The name by which the model calls the tool.", Type.String({ minLength: 1, maxLength: 128 })),
              arguments: about(GivenArguments, JsonObject),
            }),
          ),
          {
            maxItems: limits.tools_per_agent,
          },
        ),
      ),
    ),
  }),
);

const { budget, timeout_ms, action_timeout_ms, on_disconnect, on_concurrency_limit, metadata, stream } =
  CreateRun.properties;

const forkTools = ["live", "recorded_then_live", "recorded_only"] as const;

/** Body of `POST /v1/runs/:id/fork` (contract, section 16). */
export const ForkRun = closedObject({
  step_index: about("The last step that the fork keeps; -1: none.", Type.Integer({ minimum: -1, maximum: 1_000_000 })),
  edits: about(
    "What changes from the step on.",
    Type.Optional(
      named(
        "ForkEdits",
        closedObject({
          tool_output: about("What the tool returned instead.", Type.Optional(Type.Unknown())),
          /** True if `tool_output` is an error. */
          is_error: about("Whether the output says what went wrong.", Type.Optional(Type.Boolean())),
          model_output: about(
            "What the model said instead, as text or with tool calls.",
            Type.Optional(Type.Union([Type.String({ maxLength: limits.input_bytes }), ModelOutput])),
          ),
          instructions: about(
            "The system prompt after the kept steps.",
            Type.Optional(Type.String({ maxLength: limits.instructions_bytes })),
          ),
          model: about(
            "Which model is asked after the kept steps, as `<provider>/<model>`.",
            Type.Optional(overridableFields.model),
          ),
          models: about(
            "Several models from there on, in their order, in place of `model`.",
            Type.Optional(overridableFields.models),
          ),
          input: about("What the fork is asked, in place of the other run's input.", Type.Optional(RunInput)),
          variables: about(
            "Values of the agent's variables from there on; those that are left out stay.",
            Type.Optional(VariableValues),
          ),
        }),
      ),
    ),
  ),
  tools: about("Whether tools are called, or answered from the record.", Type.Optional(oneOf(forkTools))),
  agent: about("Whether the agent is used as it was, or as it is now.", Type.Optional(oneOf(replayAgents))),
  budget: about("What the fork may spend from there on.", budget),
  timeout_ms: about(
    "How long the run may work, in milliseconds; waiting does not count. Default: as the other run.",
    timeout_ms,
  ),
  action_timeout_ms: about(
    "How long the run waits for an answer to a tool call or an approval, in milliseconds. Default: as the other run.",
    action_timeout_ms,
  ),
  on_disconnect,
  on_concurrency_limit,
  metadata,
  stream,
});
export type ForkRun = Static<typeof ForkRun>;
