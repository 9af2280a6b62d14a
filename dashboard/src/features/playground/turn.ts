import { emptyRunView, type RunView } from "../../../../server/wire/fold-frames.ts";
import type { ToolAnswer } from "../../entities/call/answer-call.ts";
import type { ApiError } from "../../lib/api.ts";
import type { StreamState } from "../../lib/events.ts";
import type { RunBody } from "./playground-types.ts";

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
    ...{ key, input, body, runId },
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
