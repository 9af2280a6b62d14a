import { AppError } from "../core/errors.ts";
import { newId } from "../core/ids.ts";
import type { Scope } from "../core/scope.ts";
import type { Viewer } from "../http/auth.ts";
import { fault, refuse } from "../http/errors.ts";
import type { Inserted } from "../journal/journal.ts";
import type { RunRow } from "./run-row.ts";
import { type CreateRun, newThread } from "./schema.ts";
import type { RunStore } from "./store.ts";

/** Whom the runs of a thread are for; throws for a thread that is not there. */
export type ThreadOwnerOf = (viewer: Viewer, threadId: string) => Owner;

interface Owner {
  user_id: string | null;
  session_id: string | null;
}

/** Within a write: there is a thread of this id from here on. One that is not new may have been promised to its first run. */
export type BeginThread = (scope: Scope, thread: Owner & { id: string }, isNew: boolean) => void;

/** What a new run meets in its thread. */
interface ThreadPlace {
  /** What it has ended, to be committed with it. */
  ended: Inserted[];
  /** Its place in the line, from 1; null where nobody is before it. */
  line: number | null;
}

export const noPlace: ThreadPlace = { ended: [], line: null };

export type ThreadQueue = ReturnType<typeof createThreadQueue>;

/** Runs of a thread: one at a time, and the others wait, are refused, or take its place. */
export function createThreadQueue({
  runs,
  ownerOf,
  begin,
  insertCancelled,
}: {
  runs: Pick<RunStore, "inThread">;
  ownerOf: ThreadOwnerOf;
  begin: BeginThread;
  /** Within a write: cancels a run and those below it. */
  insertCancelled(row: RunRow, reason: string): Inserted[];
}) {
  /** Whom a run is for: who its thread is for, where it has one. Throws for a run that says otherwise. */
  function owner(viewer: Viewer, { thread_id, user_id, session_id }: CreateRun) {
    const isNew = thread_id === newThread;
    const of = thread_id === undefined || isNew ? null : ownerOf(viewer, thread_id);
    const own = { user_id: user_id ?? null, session_id: session_id ?? null };
    const faults = (["user_id", "session_id"] as const)
      .filter((name) => own[name] !== null && of && of[name] !== null && own[name] !== of[name])
      .map((name) => fault(name, `The thread has a different ${name}.`));
    refuse(faults);
    return {
      thread_id: isNew ? newId("thread") : (thread_id ?? null),
      user_id: own.user_id ?? of?.user_id ?? null,
      session_id: own.session_id ?? of?.session_id ?? null,
    };
  }

  /** Within a write: makes room for a new run in its thread, or finds its place in the line. */
  function take(viewer: Viewer, { thread_id, if_thread_busy = "reject" }: CreateRun): ThreadPlace {
    if (thread_id === undefined || thread_id === newThread) return noPlace;
    ownerOf(viewer, thread_id); // It may have been deleted in the meantime.
    const before = runs.inThread(viewer, thread_id);
    if (before.length === 0) return noPlace;
    if (if_thread_busy === "reject") throw busy(before[0]!);
    if (if_thread_busy === "queue")
      return { ended: [], line: before.filter(({ status }) => status === "queued").length + 1 };
    return { ended: before.flatMap((row) => insertCancelled(row, replaced)), line: null };
  }

  /** Within a write: the run's thread is there. */
  function beginFor(scope: Scope, body: CreateRun, { thread_id, user_id, session_id }: ReturnType<typeof owner>): void {
    if (thread_id !== null) begin(scope, { id: thread_id, user_id, session_id }, body.thread_id === newThread);
  }

  return { owner, take, beginFor };
}

const replaced = "A new run has taken its place in the thread (if_thread_busy).";

const busy = ({ id }: Scope & { id: string }): AppError =>
  new AppError("thread_busy", "The thread already has an active run.", { details: { run_id: id } });
