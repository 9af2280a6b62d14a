import type { CreateRun } from "../../../../server/runs/schema.ts";
import { emptyRunView, type RunView } from "../../../../server/wire/fold-frames.ts";
import type { ToolAnswer } from "../../entities/call/answer-call.ts";
import type { ApiError } from "../../lib/api.ts";
import type { StreamState } from "../../lib/events.ts";
import type { ApiRequest } from "../../lib/request-code.ts";

/** One input of a conversation and the run that it became. */
export interface Turn {
  key: string;
  input: string;
  /** What was sent; null for a run that was read from its thread. */
  body: RunBody | null;
  /** Null until the server has said that there is a run. */
  runId: string | null;
  view: RunView;
  stream: StreamState;
  /** The newest event here, to say from where a lost stream goes on. */
  lastId: string;
  /** Why there is no run. */
  error: ApiError | null;
  /** What a person answered here. */
  answers: ToolAnswer[];
}

/** A turn that is on its way. */
export function newTurn(key: string, input: string, body: RunBody | null, runId: string | null = null): Turn {
  return {
    key,
    input,
    body,
    runId,
    view: emptyRunView,
    stream: "connecting",
    lastId: "",
    error: null,
    answers: [],
  };
}

/** Whether a turn still goes on. */
export function isOpen({ error, view, stream }: Turn): boolean {
  const isDone = view.status === "completed" || view.status === "failed" || view.status === "cancelled";
  return !error && !isDone && stream !== "ended";
}

/** Body of `POST /v1/runs`. */
export type RunBody = Omit<CreateRun, "input"> & { input: string; stream: true };

/** What an application would send for what was done here: the run, and the answers to its calls. */
export function requestsOf(next: RunBody, last: Turn | undefined): ApiRequest[] {
  const isNext = next.input !== "" || !last?.body;
  const body = isNext ? { ...next, input: next.input || "Hello" } : last.body;
  const run: ApiRequest = { method: "POST", path: "/v1/runs", body, stream: true };
  if (isNext || !last?.runId) return [run];
  const path = `/v1/runs/${last.runId}/submit_tool_outputs`;
  const answers = last.answers.map(
    (answer): ApiRequest => ({
      method: "POST",
      path,
      body: { tool_outputs: [answer] },
      note: answer.decision ? "What was decided about a call" : "The output of a client tool",
    }),
  );
  return [{ ...run, ...(answers.length > 0 && { note: "The run" }) }, ...answers];
}
