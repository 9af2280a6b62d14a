import type { WorstCase } from "../../domain/budget.ts";
import { supersededCall } from "../../domain/error-messages.ts";
import { endsRun, type JournalEntry, type RunEvent } from "../../domain/run-event.ts";
import { isOver } from "../../domain/run-state.ts";
import type { Scope } from "../../domain/scope.ts";
import { stepKinds } from "../../domain/step-kinds.ts";
import type { Reserved } from "../../runtime/agent-loop/messages.ts";
import { AppendRefused, type RunHead } from "../../storage/journal/journal.ts";
import type { DayBudgets } from "./day-budgets.ts";

/** Holds reservations of daily budgets, from before a model call until the journal has its cost. */
export function createReservations({
  dayBudgets,
  headOf,
}: {
  dayBudgets: DayBudgets;
  headOf(runId: string): RunHead | null;
}) {
  const holders = new Map<string, Scope>();

  /** Throws for a superseded attempt, whose reservation would never be released. */
  function requireCurrent({ run_id, attempt }: RunHead): void {
    const head = headOf(run_id);
    if (!head || isOver(head.status) || head.attempt !== attempt) throw new AppendRefused(supersededCall);
  }

  return {
    /** Reserves, waiting while other calls hold what is needed, because they may use less. */
    async reserve(run: RunHead, worst: WorstCase): Promise<Reserved> {
      for (;;) {
        requireCurrent(run);
        const answer = dayBudgets.reserve(run, run.run_id, worst);
        if (answer.granted) holders.set(run.run_id, run);
        if (answer.granted || answer.because !== "reserved") return answer;
        await dayBudgets.freed(run);
      }
    },
    /** Releases reservations once their calls' costs are durable. */
    committed(runId: string, entries: readonly JournalEntry[]): void {
      const scope = holders.get(runId);
      if (!scope || !entries.some(({ event }) => endsCall(event))) return;
      holders.delete(runId);
      dayBudgets.release(scope, runId);
    },
  };
}

/** True if the event ends the run's current model call. */
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
