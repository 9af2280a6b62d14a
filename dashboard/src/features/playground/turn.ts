import type { AnyRun as Run } from "../../../../server/domain/api-types/run.ts";
import { emptyRunView, type RunView } from "../../../../server/domain/api-types/run-view.ts";
import { type RunInput, wholeText } from "../../../../server/domain/run-input.ts";
import { isOver } from "../../../../server/domain/run-state.ts";
import type { CreateRun } from "../../../../server/runs/schema.ts";
import { shownInput } from "../../entities/file/shown-input.ts";
import type { ShownLists } from "../../entities/file/shown-media.tsx";
import type { ToolAnswer } from "../../entities/tool-call/answer-call.ts";
import type { ApiError } from "../../lib/api.ts";
import type { StreamState } from "../../lib/events.ts";
import type { ApiRequest } from "../../lib/request-code.ts";

/** One input of a conversation and its run. */
export interface Turn {
  key: string;
  /** Text of the input, and its images and files. */
  input: string;
  shown: ShownLists;
  /** Request body; null for a run loaded from its thread. */
  body: RunBody | null;
  /** Null until the server has created the run. */
  runId: string | null;
  /** True if the run was over before its events are here. */
  isOver: boolean;
  view: RunView;
  stream: StreamState;
  /** Last event id, to resume a broken stream. */
  lastId: string;
  /** Error that prevented the run. */
  error: ApiError | null;
  /** Answers given on this page. */
  answers: ToolAnswer[];
}

/** Creates the turn of a run that was read. */
export const turnOf = ({ id, input, status }: Run): Turn => ({
  ...newTurn(id, input, null, id),
  isOver: isOver(status),
});

/** Creates a turn whose run has not started. */
export function newTurn(key: string, input: RunInput, body: RunBody | null, runId: string | null = null): Turn {
  return {
    key,
    input: wholeText(input),
    shown: shownInput(input),
    body,
    runId,
    isOver: false,
    view: emptyRunView,
    stream: "connecting",
    lastId: "",
    error: null,
    answers: [],
  };
}

/** True while a turn is in progress. */
export function isOpen({ error, view, stream, isOver: wasOver }: Turn): boolean {
  const isDone = view.status === "completed" || view.status === "failed" || view.status === "cancelled";
  return !error && !wasOver && !isDone && stream !== "ended";
}

/** Body of `POST /v1/runs`. */
export type RunBody = Omit<CreateRun, "input"> & { input: RunInput; stream: true };

/** Returns the content of the message that an input is. */
export const contentOf = (input: RunInput) => (typeof input === "string" ? input : (input[0]?.content ?? ""));

/**
 * Requests that reproduce this page's actions: the run, and the answers to its calls. While a run works (`steeredId`),
 * what is written is a message to it.
 */
export function requestsOf(next: RunBody, last: Turn | undefined, steeredId?: string): ApiRequest[] {
  if (steeredId && next.input !== "")
    return [
      {
        method: "POST",
        path: `/v1/runs/${steeredId}/messages`,
        body: { role: "user", content: contentOf(next.input) },
      },
    ];
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
