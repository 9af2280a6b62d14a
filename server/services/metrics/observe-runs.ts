import { leftOutCode } from "../../domain/restart.ts";
import type { JournalEntry, RunEvent } from "../../domain/run-event.ts";
import { newEntries } from "../../domain/run-trigger.ts";
import { stepKinds } from "../../domain/step-kinds.ts";
import { deleteOldest } from "../../lib/collections.ts";
import type { RunFacts } from "../../storage/journal/journal.ts";
import type { Instruments } from "./instruments.ts";
import type { Spending } from "./spending.ts";

type StepCompleted = Extract<RunEvent, { type: "step.completed" }>;
type ToolCompleted = Extract<RunEvent, { type: "tool.completed" }>;

// Limit of remembered open calls, which may wait long; the oldest beyond it are counted as type "other".
const openCallsMax = 10_000;

/** Counts events of runs after their commit. `factsOf` returns the run's current state. */
export function createRunObserver(
  { runs, models, tools, steps, database }: Instruments,
  { providerOf, called, spend }: Spending,
  factsOf: (runId: string) => RunFacts | null,
) {
  const typeOfCall = new Map<string, string>();

  function observe(event: RunEvent, facts: RunFacts): void {
    switch (event.type) {
      case "run.created":
        runs.created.inc({ environment: facts.environment });
        break;
      case "run.recovered":
        runs.recovered.inc();
        break;
      case "run.completed":
      case "run.cancelled":
        end(facts, "");
        break;
      case "run.failed":
        end(facts, event.error.code);
        break;
      case "step.restarted":
        // A model that is left out was not called.
        if (event.step_type === "model_call" && event.reason?.code !== leftOutCode)
          called(event.spent?.model ?? facts.model, "retried");
        spend(event.spent?.model ?? facts.model, event.spent);
        break;
      case "guardrail.decided":
      case "context.compacted":
        spend(event.spent?.model ?? facts.model, event.spent);
        break;
      case "step.completed":
        endStep(event, facts);
        break;
      case "tool.requested":
        typeOfCall.set(event.call.id, event.call.type);
        if (typeOfCall.size > openCallsMax) deleteOldest(typeOfCall);
        break;
      case "tool.completed":
        endCall(event);
    }
  }

  function end({ environment, status, worked_ms }: RunFacts, error_code: string): void {
    runs.ended.inc({ environment, status, error_code });
    runs.duration.observe({ environment, status }, worked_ms / 1000);
  }

  function endStep({ step_type, status, latency_ms, answer }: StepCompleted, facts: RunFacts): void {
    const seconds = latency_ms / 1000;
    if (step_type === "model_call") {
      const model = answer?.model ?? facts.model;
      const provider = providerOf(model);
      called(model, status);
      models.duration.observe({ provider }, seconds);
      const first = answer?.time_to_first_token_ms ?? null;
      if (first !== null) models.firstToken.observe({ provider }, first / 1000);
      spend(model, answer);
    } else if (!stepKinds[step_type].isCall) steps.duration.observe({ type: step_type }, seconds);
  }

  function endCall({ tool_call_id, status, latency_ms }: ToolCompleted): void {
    const type = typeOfCall.get(tool_call_id) ?? "other";
    typeOfCall.delete(tool_call_id);
    tools.calls.inc({ type, outcome: status });
    tools.duration.observe({ type }, latency_ms / 1000);
  }

  return (runId: string, entries: readonly JournalEntry[]): void => {
    const facts = factsOf(runId);
    if (!facts) return;
    database.entries.inc(entries.length);
    for (const { event } of newEntries(entries)) observe(event, facts);
  };
}
