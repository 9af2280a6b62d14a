import { beginsModelCall, type JournalEntry } from "../core/run-event.ts";
import type { Scope } from "../core/scope.ts";
import type { Leave } from "../db/writer.ts";
import { AppendRefused, type Inserted, type Journal } from "../journal/journal.ts";
import type { Notice } from "../worker/messages.ts";
import type { Parking } from "./parking.ts";
import type { Recovery } from "./recovery.ts";
import type { Thread } from "./threads.ts";

interface LoopAppendsOptions {
  journal: Pick<Journal, "head">;
  recovery: Pick<Recovery, "record" | "unwritten">;
  parking: Pick<Parking, "has" | "rests">;
  /** Whether model calls of a scope have to be granted their share of a day's budget. */
  hasDayBudget(scope: Scope): boolean;
  /** The loop of a run stops until the run may be driven again. */
  hold(runId: string): void;
}

/** Puts into the journal what loops say of their runs, and tells them that it is there, or that it is not. */
export function createLoopAppends({ journal, recovery, parking, hasDayBudget, hold }: LoopAppendsOptions) {
  // By run, the attempt whose loop was told of a commit that failed then: it has gone on with what is not so.
  const misled = new Map<string, number>();

  async function append(notice: Extract<Notice, { do: "append" }>, thread: Thread): Promise<void> {
    const { run_id, attempt, ticket, events, leaves } = notice;
    const told = { ahead: false, inVain: false };
    const callsModel = events.some(beginsModelCall);

    function confirm(entries: readonly JournalEntry[]): void {
      if (leaves !== undefined) return; // Nobody hears it.
      const { seq, at } = entries[0]!;
      const head = callsModel ? journal.head(run_id) : null;
      thread.send({ do: "appended", ticket, seq, at, ...(head && { day_budget: hasDayBudget(head) }) });
    }

    // A model may be asked before it is durable that it is: if that comes to nothing, it was asked once too often. A tool may not.
    const ahead: Leave<Inserted[]> = (inserted) => {
      const own = inserted.find(([id]) => id === run_id);
      const head = journal.head(run_id);
      if (!own || !head || parking.has(head.project_id)) return null;
      confirm(own[1]);
      told.ahead = true;
      return () => {
        told.inVain = true;
        misled.set(run_id, attempt);
      };
    };

    try {
      if (misled.get(run_id) === attempt) throw new AppendRefused("Its loop was told what is not so.");
      const entries = await recovery.record(run_id, events, attempt, callsModel ? ahead : undefined);
      if (told.inVain) throw new Error("What a loop was told of its run was not so.");
      if (told.ahead) return;
      if (parking.rests(run_id, entries[0]!.seq)) {
        hold(run_id);
        throw new AppendRefused("Its project leaves.");
      }
      confirm(entries);
    } catch (error) {
      thread.send({ do: "refused", ticket });
      if (!(error instanceof AppendRefused)) recovery.unwritten(run_id, error);
    }
  }

  return {
    append,
    /** Nothing more comes of this loop. */
    left(runId: string, attempt: number): void {
      if (misled.get(runId) === attempt) misled.delete(runId);
    },
  };
}
