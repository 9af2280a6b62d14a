import { frameOf } from "../../domain/api-types/frames.ts";
import type { JournalEntry, RunEvent } from "../../domain/run-event.ts";
import { runObject } from "../../domain/run-object.ts";
import { type StepType, stepKinds } from "../../domain/step-kinds.ts";
import { createTraceFold, type Trace, type TraceFold } from "../../domain/trace.ts";

/** Thrown for valid entries that do not form a run. */
export class InvalidRun extends Error {}

/** Folds imported entries to a trace. Throws {@link InvalidRun} for entries that cannot be shown as a run. */
export function createForeignFold({ raw = false }: { raw?: boolean } = {}): TraceFold {
  const fold = createTraceFold({ raw });
  const isOfItsStep = createStepCheck();
  return {
    add: (entry: JournalEntry) =>
      orInvalidRun(() => {
        if (!isOfItsStep(entry.event)) throw new Error(`A step is not of the kind that ${entry.event.type} tells of.`);
        fold.add(entry);
        frameOf("run", entry);
      }),
    trace: (): Trace =>
      orInvalidRun(() => {
        const trace = fold.trace();
        runObject(trace.state, null);
        return trace;
      }),
  };
}

/**
 * Returns a check, called for each event in order: true if the event fits the kind of the step that it changes, because
 * each kind is rendered differently.
 */
function createStepCheck(): (event: RunEvent) => boolean {
  const kinds: StepType[] = [];
  const stepOfCall = new Map<string, number>();
  const isCall = (kind: StepType | undefined): boolean => kind !== undefined && stepKinds[kind].isCall === true;
  return (event) => {
    const known = "step_index" in event && event.step_index !== null ? kinds[event.step_index] : undefined;
    switch (event.type) {
      case "step.started":
        kinds[event.step_index] = event.step_type;
        return known === undefined;
      case "guardrail.decided":
        kinds[event.step_index] = "guardrail";
        return known === undefined;
      case "step.restarted":
        return known === event.step_type;
      case "step.completed":
        return known === event.step_type && (event.answer === null || known === "model_call" || isCutSummary(event));
      case "context.compacted":
        return known === "compaction";
      case "memory.retrieved":
        return known === "retrieval";
      case "tool.requested":
        stepOfCall.set(event.call.id, event.call.step_index);
        return true;
      case "tool.completed":
        return isCall(known);
      case "tool.decided":
      case "subagent.started":
        return isCall(kinds[stepOfCall.get(event.tool_call_id) ?? -1]);
      default:
        return true;
    }
  };
}

/** True for the end of a summary of the conversation whose model call failed in its answer: only its usage counts. */
const isCutSummary = ({ step_type, status, answer }: RunEvent & { type: "step.completed" }): boolean =>
  step_type === "compaction" && status === "failed" && answer?.parts.length === 0;

/** Throws {@link InvalidRun} for any error. */
export function orInvalidRun<T>(show: () => T): T {
  try {
    return show();
  } catch (cause) {
    throw new InvalidRun("The entries do not follow from each other.", { cause });
  }
}
