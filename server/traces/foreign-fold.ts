import type { JournalEntry, RunEvent } from "../core/run-event.ts";
import { runObject } from "../core/run-object.ts";
import { type StepType, stepKinds } from "../core/step-kinds.ts";
import { createTraceFold, type Trace, type TraceFold } from "../core/trace.ts";
import { frameOf } from "../wire/frames.ts";

/** Entries that have the shape of a run's, but tell of none. */
export class NoRun extends Error {}

/** The trace of entries that came from elsewhere. Throws {@link NoRun} for what cannot be shown as a run. */
export function createForeignFold({ raw = false }: { raw?: boolean } = {}): TraceFold {
  const fold = createTraceFold({ raw });
  const isOfItsStep = createStepCheck();
  return {
    add: (entry: JournalEntry) =>
      unlessNone(() => {
        if (!isOfItsStep(entry.event)) throw new Error(`A step is not of the kind that ${entry.event.type} tells of.`);
        fold.add(entry);
        frameOf("run", entry);
      }),
    trace: (): Trace =>
      unlessNone(() => {
        const trace = fold.trace();
        runObject(trace.state, null);
        return trace;
      }),
  };
}

/** Says of each event, in their order, whether the step that it changes began as one of its kind: each kind is shown otherwise. */
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
        return known === event.step_type && (event.answer === null || known === "model_call");
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

/** Throws {@link NoRun} for whatever goes wrong. */
export function unlessNone<T>(show: () => T): T {
  try {
    return show();
  } catch (cause) {
    throw new NoRun("The entries do not follow from each other.", { cause });
  }
}
