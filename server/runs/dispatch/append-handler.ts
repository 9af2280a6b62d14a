import { beginsModelCall, type JournalEntry, type RunEvent } from "../../domain/run-event.ts";
import { isOver } from "../../domain/run-state.ts";
import type { Scope } from "../../domain/scope.ts";
import type { FromWorker } from "../../runtime/agent-loop/messages.ts";
import type { Leave } from "../../storage/db/writer.ts";
import { AppendRefused, type Inserted, type Journal } from "../../storage/journal/journal.ts";
import type { Recovery } from "../recovery/recovery.ts";
import type { Draining } from "./draining.ts";
import { missedRequests } from "./missed-requests.ts";
import type { WorkerThread } from "./worker-threads.ts";

interface AppendHandlerOptions {
  journal: Pick<Journal, "head" | "read">;
  recovery: Pick<Recovery, "record" | "unwritten">;
  draining: Pick<Draining, "has" | "rests">;
  /** True if the loop of this start still drives the run; absent: each does until its attempt is past. */
  isDriven?(runId: string, drive: number): boolean;
  /** True if model calls of a scope must reserve a share of the daily budget. */
  hasDayBudget(scope: Scope): boolean;
  /** True if calls of some model have failed lately. */
  hasModelTrouble?(): boolean;
  /** Stops the loop of a run until the run may be driven again. */
  hold(runId: string): void;
}

export type AppendHandler = ReturnType<typeof createAppendHandler>;

/** Appends events from loops to the journal, and replies with the outcome. */
export function createAppendHandler({
  journal,
  recovery,
  draining,
  isDriven = () => true,
  hasDayBudget,
  hasModelTrouble = () => false,
  hold,
}: AppendHandlerOptions) {
  // Attempts by run whose loop had an append confirmed before its commit failed: the loop went on from a false state.
  const misled = new Map<string, number>();

  const limitsOf = (head: Scope) => ({ day_budget: hasDayBudget(head), model_trouble: hasModelTrouble() });

  async function append(message: Extract<FromWorker, { do: "append" }>, thread: WorkerThread): Promise<void> {
    const { run_id, attempt, drive, ticket, events, leaves, after, facts = events.length } = message;
    const confirmation = { isEarly: false, hasFailed: false };
    const callsModel = events.some(beginsModelCall);
    let missed: JournalEntry[] = [];

    /** Call inside the write. Returns the events without decisions that a request to the run has made void. */
    function validEvents(): readonly RunEvent[] {
      const head = journal.head(run_id);
      if (head?.status === "paused") throw new AppendRefused("Its run has paused.");
      if (drive !== undefined && !isDriven(run_id, drive)) throw new AppendRefused("Another loop drives its run.");
      missed = after === undefined ? [] : missedRequests(journal, run_id, after);
      if (missed.length === 0) return events;
      if (!head || isOver(head.status) || head.attempt !== attempt) throw new AppendRefused("Its loop is past.");
      return events.slice(0, facts);
    }

    function confirm({ seq, at }: Pick<JournalEntry, "seq" | "at">): void {
      if (leaves !== undefined) return; // The loop has left.
      const head = callsModel ? journal.head(run_id) : null;
      const behind = missed.length > 0 && { missed, kept: facts };
      thread.send({ do: "appended", ticket, seq, at, ...(head && limitsOf(head)), ...behind });
    }

    // The model call may start before its step is durable (worst case: one wasted call). A tool call may not.
    const confirmEarly: Leave<Inserted[]> = (inserted) => {
      const [first] = inserted.find(([id]) => id === run_id)?.[1] ?? [];
      const head = journal.head(run_id);
      if (!first || missed.length > 0 || !head || head.status === "paused" || draining.has(head.project_id))
        return null;
      confirm(first);
      confirmation.isEarly = true;
      return () => {
        confirmation.hasFailed = true;
        misled.set(run_id, attempt);
      };
    };

    try {
      if (misled.get(run_id) === attempt) throw new AppendRefused("Its loop follows an append that failed.");
      const entries = await recovery.record(run_id, validEvents, attempt, callsModel ? confirmEarly : undefined);
      // Without a fact, only the requests are news.
      const first = entries[0] ?? missed.at(-1);
      if (confirmation.hasFailed) throw new Error("An append was confirmed to its loop and not committed.");
      if (confirmation.isEarly) return;
      if (!first) throw new Error("An append had no entry.");
      if (journal.head(run_id)?.status === "paused") throw new AppendRefused("Its run has paused.");
      if (draining.rests(run_id, first.seq)) {
        hold(run_id);
        throw new AppendRefused("Its project leaves.");
      }
      confirm(first);
    } catch (error) {
      thread.send({ do: "refused", ticket });
      if (!(error instanceof AppendRefused)) recovery.unwritten(run_id, error);
    }
  }

  return {
    append,
    /** Forgets an attempt whose loop has left. */
    left(runId: string, attempt: number): void {
      if (misled.get(runId) === attempt) misled.delete(runId);
    },
  };
}
