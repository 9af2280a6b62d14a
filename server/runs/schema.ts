import { type Static, Type } from "@sinclair/typebox";
import { idPattern } from "../domain/ids.ts";
import { limits } from "../domain/limits.ts";
import { replayAgents, replayModes } from "../domain/run-event.ts";
import { AgentOverrides, Budget, idOf, JsonObject, Metadata, RunInput, Subject } from "../http/schemas.ts";
import { closedObject, named, oneOf } from "../lib/schema.ts";
import { RequestTool } from "./create/request-tools.ts";

/** In place of a thread id: creates a thread together with the run. */
export const newThread = "new";

/** Body of `POST /v1/runs` (contract, section 6). */
export const CreateRun = closedObject({
  agent_id: idOf("agent"),
  input: RunInput,
  stream: Type.Optional(Type.Boolean()),
  thread_id: Type.Optional(Type.String({ pattern: `${idPattern("thread")}|^${newThread}$` })),
  if_thread_busy: Type.Optional(oneOf(["reject", "queue", "cancel_previous"])),
  session_id: Type.Optional(Subject),
  user_id: Type.Optional(Subject),
  file_ids: Type.Optional(Type.Array(idOf("file"), { maxItems: limits.files_per_run, uniqueItems: true })),
  overrides: Type.Optional(AgentOverrides),
  tools: Type.Optional(Type.Array(RequestTool, { maxItems: limits.tools_per_agent })),
  budget: Type.Optional(Budget),
  timeout_ms: Type.Optional(Type.Integer({ minimum: 1, maximum: 7 * 24 * 3_600_000 })),
  action_timeout_ms: Type.Optional(Type.Integer({ minimum: 1, maximum: limits.action_timeout_max_ms })),
  on_disconnect: Type.Optional(oneOf(["continue", "cancel"])),
  on_concurrency_limit: Type.Optional(oneOf(["reject", "queue"])),
  metadata: Type.Optional(Metadata),
});
export type CreateRun = Static<typeof CreateRun>;

/** Body of `POST /v1/runs/:id/submit_tool_outputs` (contract, section 7). */
export const SubmitToolOutputs = closedObject({
  tool_outputs: Type.Array(
    named(
      "ToolOutput",
      closedObject({
        tool_call_id: Type.String({ minLength: 1, maxLength: 100 }),
        output: Type.Optional(Type.Unknown()),
        is_error: Type.Optional(Type.Boolean()),
        decision: Type.Optional(oneOf(["approve", "reject"])),
        reason: Type.Optional(Type.String({ maxLength: 2000 })),
        arguments: Type.Optional(JsonObject),
      }),
    ),
    { minItems: 1, maxItems: limits.tools_per_agent },
  ),
  stream: Type.Optional(Type.Boolean()),
});

export type SubmitToolOutputs = Static<typeof SubmitToolOutputs>;

/** Body of `POST /v1/runs/:id/replay` (contract, section 16). */
export const ReplayRun = closedObject({
  mode: Type.Optional(oneOf(replayModes)),
  agent: Type.Optional(oneOf(replayAgents)),
});
export type ReplayRun = Static<typeof ReplayRun>;

export const CancelRun = closedObject({ reason: Type.Optional(Type.String({ maxLength: 500 })) });
