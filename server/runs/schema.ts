import { type Static, Type } from "@sinclair/typebox";
import { idPattern } from "../domain/ids.ts";
import { limits } from "../domain/limits.ts";
import { decisions, disconnectPolicies, elicitationActions, replayAgents, replayModes } from "../domain/run-event.ts";
import {
  AgentOverrides,
  AgentReference,
  Budget,
  InputContent,
  idOf,
  JsonObject,
  Metadata,
  OutputPart,
  RunInput,
  Subject,
  VariableValues,
  versionChoice,
} from "../http/schemas.ts";
import { about, closedObject, named, oneOf } from "../lib/schema.ts";
import { RequestTool } from "./create/request-tools.ts";

/** In place of a thread id: creates a thread together with the run. */
export const newThread = "new";

/** Body of `POST /v1/runs` (contract, section 6). */
export const CreateRun = closedObject({
  agent_id: about("The agent: its id, or its name, also as `name@label` or `name@version`.", AgentReference),
  version: Type.Optional(versionChoice.version),
  label: Type.Optional(versionChoice.label),
  input: about("The task: a text, or up to 200 messages of which the last is the user's. 256 KB in all.", RunInput),
  stream: about("Whether the response is the run's events.", Type.Optional(Type.Boolean())),
  thread_id: about(
    "The thread in which the run takes place, or `new`: one that begins with the run. Default: none.",
    Type.Optional(Type.String({ pattern: `${idPattern("thread")}|^${newThread}$` })),
  ),
  if_thread_busy: about(
    "What happens when the thread already has an active run.",
    Type.Optional(oneOf(["reject", "queue", "cancel_previous", "steer"])),
  ),
  session_id: about(
    "A name of your own for the session. Default: that of the thread, or none.",
    Type.Optional(Subject),
  ),
  user_id: about("A name of your own for the user. Default: that of the thread, or none.", Type.Optional(Subject)),
  file_ids: about(
    "Files that the model is given, and that code tools can read.",
    Type.Optional(Type.Array(idOf("file"), { maxItems: limits.files_per_run, uniqueItems: true })),
  ),
  overrides: about("What is different from the agent.", Type.Optional(AgentOverrides)),
  tools: about(
    "Tools of your program for this run only, beside those of the agent.",
    Type.Optional(Type.Array(RequestTool, { maxItems: limits.tools_per_agent })),
  ),
  variables: about(
    'Values of the agent\'s variables by name, such as `{"customer": "Ann"}`. They go before those of its thread.',
    Type.Optional(VariableValues),
  ),
  budget: about("What it may spend; the agent's budget applies too.", Type.Optional(Budget)),
  timeout_ms: about(
    "How long the run may work, in milliseconds; waiting does not count.",
    Type.Optional(Type.Integer({ minimum: 1, maximum: 7 * 24 * 3_600_000 })),
  ),
  action_timeout_ms: about(
    "How long the run waits for an answer to a tool call or an approval before it fails, in milliseconds.",
    Type.Optional(Type.Integer({ minimum: 1, maximum: limits.action_timeout_max_ms })),
  ),
  on_disconnect: about(
    "What happens when the reader of its stream disconnects: continue, or cancel the run.",
    Type.Optional(oneOf(disconnectPolicies)),
  ),
  on_concurrency_limit: about(
    "What happens when the concurrency limit is reached: reject the run, or queue it.",
    Type.Optional(oneOf(["reject", "queue"])),
  ),
  metadata: Type.Optional(Metadata),
});
export type CreateRun = Static<typeof CreateRun>;

/** Body of `POST /v1/runs/:id/submit_tool_outputs` (contract, section 7). */
export const SubmitToolOutputs = closedObject({
  tool_outputs: about(
    "The answers, one for each call.",
    Type.Array(
      named(
        "ToolOutput",
        closedObject({
          tool_call_id: about("The call that is answered.", Type.String({ minLength: 1, maxLength: 100 })),
          output: about(
            "What the tool returned: any JSON, or parts with images. The model reads it.",
            Type.Optional(Type.Unknown()),
          ),
          content: about(
            "The result as text and pictures, in place of `output`: the model is shown the pictures.",
            Type.Optional(Type.Array(OutputPart, { minItems: 1, maxItems: limits.input_parts })),
          ),
          is_error: about("Whether the output says what went wrong.", Type.Optional(Type.Boolean())),
          decision: about("Whether the call is made.", Type.Optional(oneOf(decisions))),
          reason: about(
            "The reason for the decision; the model reads it.",
            Type.Optional(Type.String({ maxLength: 2000 })),
          ),
          arguments: about("Other arguments than the model's, with `approve`.", Type.Optional(JsonObject)),
          elicitation: about(
            "The answer to the question that the call's MCP server asks.",
            Type.Optional(
              named(
                "ElicitationAnswer",
                closedObject({
                  id: about(
                    "The question. Default: the one that the call asks now.",
                    Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
                  ),
                  action: about(
                    "Whether the user accepts, declines or dismisses the question.",
                    oneOf(elicitationActions),
                  ),
                  content: about(
                    "What the user filled in, as `requested_schema` asks; with `accept` of a form only.",
                    Type.Optional(JsonObject),
                  ),
                }),
              ),
            ),
          ),
        }),
      ),
      { minItems: 1, maxItems: limits.tools_per_agent },
    ),
  ),
  stream: about("Whether the response is the run's events from here on.", Type.Optional(Type.Boolean())),
});

export type SubmitToolOutputs = Static<typeof SubmitToolOutputs>;

/** Body of `POST /v1/runs/:id/messages`. */
export const SteerRun = closedObject({
  role: about("Who says it: the user.", Type.Literal("user")),
  content: about(
    "What the user says: a text, or parts with images, recordings and documents. 256 KB of text in all.",
    InputContent,
  ),
  interrupt: about(
    "Whether the model call that is open ends at once. What came of its answer stays; none of its tool calls is made.",
    Type.Optional(Type.Boolean()),
  ),
});
export type SteerRun = Static<typeof SteerRun>;

/** Body of `POST /v1/runs/:id/replay` (contract, section 16). */
export const ReplayRun = closedObject({
  mode: about("Whether the replay stops at the first difference.", Type.Optional(oneOf(replayModes))),
  agent: about("Whether the agent is used as it was, or as it is now.", Type.Optional(oneOf(replayAgents))),
});
export type ReplayRun = Static<typeof ReplayRun>;

/** Body of `POST /v1/runs/:id/pause`. */
export const PauseRun = closedObject({
  reason: about(
    "Why, for people: the event `run.pause_requested` has it.",
    Type.Optional(Type.String({ maxLength: 500 })),
  ),
});

export const ResumeRun = closedObject({});

export const CancelRun = closedObject({
  reason: about("Why, for people: the run's `error.message` has it.", Type.Optional(Type.String({ maxLength: 500 }))),
});
