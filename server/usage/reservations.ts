import type { WorstCase } from "../core/budget.ts";
import { endsRun, type JournalEntry, type RunEvent } from "../core/run-event.ts";
import { isOver } from "../core/run-state.ts";
import type { Scope } from "../core/scope.ts";
import { stepKinds } from "../core/step-kinds.ts";
import { AppendRefused, type RunHead } from "../journal/journal.ts";
import type { Reserved } from "../worker/messages.ts";
import type { DayBudgets } from "./day-budgets.ts";

/** Who holds what of the day's budgets: from before a model call until the journal has what it cost. */
export function createReservations({
  dayBudgets,
  headOf,
}: {
  dayBudgets: DayBudgets;
  headOf(runId: string): RunHead | null;
}) {
  const holders = new Map<string, Scope>();

  /** What is reserved for a run that has moved on would never be given back. */
  function requireCurrent({ run_id, attempt }: RunHead): void {
    const head = headOf(run_id);
    if (!head || isOver(head.status) || head.attempt !== attempt) throw new AppendRefused("Nobody waits.");
  }

  return {
    /** Waits while calls of others hold what this one needs: they may take less than they can. */
    async reserve(run: RunHead, worst: WorstCase): Promise<Reserved> {
      for (;;) {
        requireCurrent(run);
        const answer = dayBudgets.reserve(run, run.run_id, worst);
        if (answer.granted) holders.set(run.run_id, run);
        if (answer.granted || answer.because !== "reserved") return answer;
        await dayBudgets.freed(run);
      }
    },
    /** To be told of what is durable: what a call cost is counted now, so that its reservation may go. */
    committed(runId: string, entries: readonly JournalEntry[]): void {
      const scope = holders.get(runId);
      if (!scope || !entries.some(({ event }) => endsCall(event))) return;
      holders.delete(runId);
      dayBudgets.release(scope, runId);
    },
  };
}

/** Whether no model call of before this event goes on after it. */
function endsCall(event: RunEvent): boolean {
  switch (event.type) {
    case "step.completed":
    case "step.restarted":
      return stepKinds[event.step_type].asksModel === true;
    case "guardrail.decided":
      return event.spent !== null;
    default:
      return event.type === "run.recovered" || endsRun(event);
  }
}
