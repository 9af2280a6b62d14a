import { threadBusy } from "../../domain/error-messages.ts";
import { AppError } from "../../domain/errors.ts";
import { newId } from "../../domain/ids.ts";
import type { Scope } from "../../domain/scope.ts";
import type { VariableValues } from "../../domain/variable.ts";
import type { Viewer } from "../../http/auth.ts";
import { fault, throwIfInvalid } from "../../http/errors.ts";
import type { Inserted } from "../../storage/journal/journal.ts";
import type { RunRow } from "../run-row.ts";
import { type CreateRun, newThread } from "../schema.ts";
import type { RunStore } from "../store.ts";

/** Returns the user and session of a thread; throws if the thread does not exist. */
export type ThreadOwnerOf = (viewer: Viewer, threadId: string) => Owner;

interface Owner {
  user_id: string | null;
  session_id: string | null;
  /** Values of variables for its runs; null: none. */
  variables?: VariableValues | null;
}

/** Call inside a write. Creates the thread if needed; an existing id may have been reserved for its first run. */
export type BeginThread = (scope: Scope, thread: Owner & { id: string }, isNew: boolean) => void;

/** Place of a new run in its thread. */
interface ThreadPlace {
  /** Ended runs, committed together with the new one. */
  ended: Inserted[];
  /** Position in the queue, from 1; null if no run is before it. */
  line: number | null;
}

export const noPlace: ThreadPlace = { ended: [], line: null };

export type ThreadQueue = ReturnType<typeof createThreadQueue>;

/** One run at a time per thread: others wait, are refused, or replace the active one. */
export function createThreadQueue({
  runs,
  ownerOf,
  begin,
  insertCancelled,
}: {
  runs: RunStore;
  ownerOf: ThreadOwnerOf;
  begin: BeginThread;
  /** Call inside a write. Cancels a run and its descendants. */
  insertCancelled(row: RunRow, reason: string): Inserted[];
}) {
  /** Returns the thread, user and session of a run. Throws if they contradict its thread's. */
  function owner(viewer: Viewer, { thread_id, user_id, session_id }: CreateRun) {
    const isNew = thread_id === newThread;
    const of = thread_id === undefined || isNew ? null : ownerOf(viewer, thread_id);
    const own = { user_id: user_id ?? null, session_id: session_id ?? null };
    const faults = (["user_id", "session_id"] as const)
      .filter((name) => own[name] !== null && of && of[name] !== null && own[name] !== of[name])
      .map((name) => fault(name, `The thread has a different ${name}.`));
    throwIfInvalid(faults);
    return {
      thread_id: isNew ? newId("thread") : (thread_id ?? null),
      user_id: own.user_id ?? of?.user_id ?? null,
      session_id: own.session_id ?? of?.session_id ?? null,
    };
  }

  /** Returns the values of variables that a run's thread has; null: none. */
  function variables(viewer: Viewer, { thread_id }: CreateRun): VariableValues | null {
    if (thread_id === undefined || thread_id === newThread) return null;
    return ownerOf(viewer, thread_id).variables ?? null;
  }

  /** Call inside a write. Makes room for a new run in its thread, or returns its queue position. */
  function take(viewer: Viewer, { thread_id, if_thread_busy = "reject" }: CreateRun): ThreadPlace {
    if (thread_id === undefined || thread_id === newThread) return noPlace;
    ownerOf(viewer, thread_id); // It may have been deleted in the meantime.
    const before = runs.inThread(viewer, thread_id);
    const [first] = before;
    if (!first) return noPlace;
    if (if_thread_busy === "reject") throw busy(first);
    if (if_thread_busy === "queue")
      return { ended: [], line: before.filter(({ status }) => status === "queued").length + 1 };
    return { ended: before.flatMap((row) => insertCancelled(row, replaced)), line: null };
  }

  /** Call inside a write. Makes sure that the run's thread exists. */
  function beginFor(scope: Scope, body: CreateRun, { thread_id, user_id, session_id }: ReturnType<typeof owner>): void {
    if (thread_id !== null) begin(scope, { id: thread_id, user_id, session_id }, body.thread_id === newThread);
  }

  return { owner, variables, take, beginFor };
}

const replaced = "A new run has taken its place in the thread (if_thread_busy).";

const busy = ({ id }: Scope & { id: string }): AppError =>
  new AppError("thread_busy", threadBusy, { details: { run_id: id } });
