import type { AgentSnapshot } from "../../domain/agent-snapshot.ts";
import { AppError } from "../../domain/errors.ts";
import type { InputMessage } from "../../domain/run-input.ts";
import type { RunObject } from "../../domain/run-object.ts";
import type { Viewer } from "../../http/auth.ts";
import { invalid } from "../../http/errors.ts";
import { plainInput } from "../../http/plain-input.ts";
import type { NewRun } from "../create/new-runs.ts";
import { type CreateRun, newThread } from "../schema.ts";
import type { Note, RunStore } from "../store.ts";
import type { SentMessage } from "./steer.ts";

type Create = (
  scope: Viewer,
  body: CreateRun,
  requestId: string,
  note?: Note,
  own?: AgentSnapshot,
) => Promise<NewRun<RunObject>>;

interface ThreadSteeringOptions {
  runs: Pick<RunStore, "inThread" | "get">;
  create: Create;
  /** Returns whether a run has what a request gives for one of its own. */
  fitsRun(scope: Viewer, body: CreateRun, runId: string): Promise<boolean>;
  steer(scope: Viewer, runId: string, message: SentMessage, note?: Note): Promise<void>;
}

// The active run may end, or another one begin, between a look at the thread and the write.
const triesMost = 5;

/**
 * Creates runs; with `if_thread_busy: "steer"`, the input becomes a message of the thread's active run, if there is one
 * of the same agent. A run that takes no message, or is not as the request wants it, is followed by the new one.
 */
export const createThreadSteering =
  ({ runs, create, fitsRun, steer }: ThreadSteeringOptions): Create =>
  async (scope, body, requestId, note, own) => {
    const { thread_id, if_thread_busy } = body;
    if (if_thread_busy !== "steer") return create(scope, body, requestId, note, own);
    for (let tries = 1; ; tries++) {
      const [busy] = thread_id === undefined || thread_id === newThread ? [] : runs.inThread(scope, thread_id);
      try {
        if (!busy || busy.agent_id !== body.agent_id)
          return await create(scope, { ...body, if_thread_busy: "reject" }, requestId, note, own);
        if (!(await fitsRun(scope, body, busy.id)))
          throw new AppError("run_not_steerable", "The run at work has another version, other values or other tools.");
        await steer(scope, busy.id, { content: messageOf(body) }, note);
        return { id: busy.id, from: busy.seq, shown: () => runs.get(scope, busy.id) };
      } catch (error) {
        const code = error instanceof AppError ? error.code : null;
        if (code === "run_not_steerable")
          return create(scope, { ...body, if_thread_busy: "queue" }, requestId, note, own);
        const isOutOfDate = code === (busy ? "run_already_terminal" : "thread_busy");
        if (!isOutOfDate || tries === triesMost) throw error;
      }
    }
  };

/** Returns the only message of an input. */
function messageOf({ input, file_ids = [] }: CreateRun): InputMessage["content"] {
  if (file_ids.length > 0) throw new AppError("run_not_steerable", "A message names its documents in its content.");
  const messages = plainInput(input);
  if (typeof messages === "string") return messages;
  const [message, ...others] = messages;
  if (!message || others.length > 0) throw invalid("input", "The thread is busy: its run takes one message at a time.");
  return message.content;
}
