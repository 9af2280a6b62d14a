import { firstItem } from "../lib/collections.ts";
import { planContext } from "./context.ts";
import { decide } from "./decide.ts";
import { describeDecision, divergence, type LocatedDivergence, promptDivergence } from "./divergence.ts";
import { activeAgent, agentNamed } from "./handoff.ts";
import { type CallPosition, replayCalls } from "./replay-calls.ts";
import { requiredAction } from "./required-action.ts";
import type { RunError, RunEvent } from "./run-event.ts";
import { isAwaitingAnswer, pendingCalls, type RunState } from "./run-state.ts";

type Of<T extends RunEvent["type"]> = Extract<RunEvent, { type: T }>;

/** Returns the divergences of an entry from the loop's decision; empty if it agrees or has no say. */
export function replayDecision(place: CallPosition): LocatedDivergence[] {
  const found = judged(place);
  return (Array.isArray(found) ? found : [found]).filter((one) => one !== null);
}

function judged(place: CallPosition): LocatedDivergence | null | LocatedDivergence[] {
  const { event } = place.entry;
  switch (event.type) {
    case "step.started":
      return event.tool_call_id === null ? checkStepStart(place, event) : null;
    case "step.completed":
      if (!isBegun(place, event)) return decisionDivergence(place, event, next(place));
      return event.answer && event.status === "completed" ? replayCalls(place, event) : null;
    case "tool.requested":
      return isAsked(place, event) ? null : decisionDivergence(place, event, null);
    case "history.loaded":
      return place.state.to_prepare[0] === "history" ? null : decisionDivergence(place, event, next(place));
    case "documents.attached":
      return place.state.to_prepare[0] === "documents" ? null : decisionDivergence(place, event, next(place));
    case "context.compacted":
      return checkCompaction(place, event);
    case "handoff.completed":
      return checkHandoff(place, event);
    case "run.requires_action":
    case "run.resumed":
    case "run.paused":
      return checkPause(place, event);
    case "run.completed":
    case "output.rejected":
      return checkEnd(place, event);
    case "run.failed":
      return checkFailure(place, event);
    default:
      return null;
  }
}

/** Returns the event that the loop appends next without work. */
function next({ state, entry, agent }: CallPosition): RunEvent | null {
  const command = decide(state, agent, entry.at);
  return command.do === "record" ? firstItem(command.events) : null;
}

const stepOf = ({ state }: CallPosition, event: RunEvent | null): number =>
  event && "step_index" in event && event.step_index !== null ? event.step_index : Math.max(0, state.steps - 1);

/** Divergence of a decision. */
const decisionDivergence = (
  place: CallPosition,
  recorded: RunEvent,
  actual: RunEvent | null,
): LocatedDivergence | null =>
  divergence(
    place.entry,
    stepOf(place, recorded),
    "decision",
    `${capital(describeDecision(recorded))} stands in the record, and what comes now is ${describeDecision(actual)}.`,
    describeDecision(recorded),
    describeDecision(actual),
  );

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const isBegun = ({ state }: CallPosition, { step_index }: Of<"step.completed">): boolean =>
  state.open.some((step) => step.step_index === step_index);

/** Checks the start of a model call, a retrieval or a compaction, by the hash of its input. */
function checkStepStart(place: CallPosition, event: Of<"step.started">): LocatedDivergence | null {
  const actual = next(place);
  if (actual?.type !== "step.started" || actual.step_type !== event.step_type)
    return decisionDivergence(place, event, actual);
  const { entry, state, agent } = place;
  const isFirst = event.step_type === "model_call" && state.turns === 0;
  return (
    (isFirst && modelOf(place) !== agent.model
      ? divergence(entry, event.step_index, "prompt", "A different model is called.", modelOf(place), agent.model)
      : null) ??
    promptDivergence(entry, event.step_index, `The input of the ${describeDecision(event).slice(2)} differs.`, [
      event.input_hash ?? "",
      event.input_hash === null ? "" : (actual.input_hash ?? ""),
    ])
  );
}

/** Returns the recorded model, whose name is not part of the prompt. */
function modelOf({ entries }: CallPosition): string | null {
  const { event } = firstItem(entries);
  return event.type === "run.created" ? event.model : null;
}

function isAsked({ state }: CallPosition, { call }: Of<"tool.requested">): boolean {
  const answer = state.messages.findLast(({ role }) => role === "assistant");
  const isInAnswer =
    answer?.role === "assistant" && answer.parts.some((part) => part.type === "tool_call" && part.id === call.id);
  return isInAnswer || state.calls.some(({ id }) => id === call.id);
}

/** Checks that the agent that answers has this handoff, and that the agent to go on is still there. */
function checkHandoff({ entry, state, agent }: CallPosition, event: Of<"handoff.completed">): LocatedDivergence | null {
  const { tools } = activeAgent(state, agent);
  const tool = tools.find((each) => each.type === "handoff" && each.handoff.agent_id === event.agent_id);
  const filter = tool?.type === "handoff" && agentNamed(event.agent_id, agent) ? tool.handoff.filter : null;
  const step = state.calls.find(({ id }) => id === event.tool_call_id)?.step_index ?? Math.max(0, state.steps - 1);
  const message = filter === null ? "This handoff does not exist." : "Another part of the conversation goes along.";
  const [then, now] = [
    { agent_id: event.agent_id, filter: event.filter },
    { agent_id: filter === null ? null : event.agent_id, filter },
  ];
  return divergence(entry, step, "decision", message, then, now);
}

/** Checks the number of messages left out. */
function checkCompaction(place: CallPosition, event: Of<"context.compacted">): LocatedDivergence | null {
  const plan = planContext(place.state, place.agent);
  const left_out = plan && plan.do !== "fail" ? plan.left_out : null;
  const message = "A different part of the conversation is left out.";
  return divergence(place.entry, event.step_index, "decision", message, { left_out: event.left_out }, { left_out });
}

/** Checks the calls that a run waits for, when it pauses and after each answer. */
function checkPause(
  place: CallPosition,
  event: Of<"run.requires_action"> | Of<"run.resumed"> | Of<"run.paused">,
): LocatedDivergence | null {
  const { state } = place;
  const recorded = event.type === "run.requires_action" ? idsOf(event) : [];
  if (state.status === "requires_action")
    return checkWait(place, recorded, pendingCalls(state).filter(isAwaitingAnswer));
  // People decide when a run pauses, and when it goes on.
  if (event.type === "run.paused" || state.status === "paused") return null;
  const actual = next(place);
  if (event.type !== actual?.type || actual.type !== "run.requires_action")
    return decisionDivergence(place, event, actual);
  return checkWait(place, recorded, actual);
}

function checkWait(
  place: CallPosition,
  recorded: string[],
  actual: Of<"run.requires_action"> | RunState["calls"],
): LocatedDivergence | null {
  const event = Array.isArray(actual) ? { required_action: requiredAction(actual, 0) } : actual;
  const message = "The run waits for other calls.";
  return divergence(place.entry, stepOf(place, null), "decision", message, recorded, idsOf(event));
}

const idsOf = ({ required_action }: Pick<Of<"run.requires_action">, "required_action">): string[] =>
  required_action.submit_tool_outputs.tool_calls.map(({ id }) => id).sort();

/** Checks the output, or the reason for which it is returned to the model. */
function checkEnd(place: CallPosition, event: Of<"run.completed"> | Of<"output.rejected">): LocatedDivergence | null {
  const actual = next(place);
  if (actual?.type !== event.type) return decisionDivergence(place, event, actual);
  return divergence(
    place.entry,
    stepOf(place, null),
    "output",
    "The output differs.",
    outputOf(event),
    outputOf(actual),
  );
}

const outputOf = (event: RunEvent): unknown =>
  event.type === "run.completed"
    ? { output: event.output, output_json: event.output_json ?? null }
    : event.type === "output.rejected" && event.content;

/** Checks failures by the loop only: deadlines, day budgets, people and crashes end a run whatever it would do next. */
function checkFailure(place: CallPosition, event: Of<"run.failed">): LocatedDivergence | null {
  const { code } = event.error;
  if (!byLoop.has(code)) return null;
  // A block can end a run while it waits, so decide as if it were in progress.
  const actual = next({ ...place, state: { ...place.state, status: "in_progress" } });
  return actual?.type === "run.failed" && actual.error.code === code ? null : decisionDivergence(place, event, actual);
}

const byLoop = new Set<RunError["code"]>([
  "max_turns_exceeded",
  "output_schema_mismatch",
  "guardrail_blocked",
  "context_length_exceeded",
  "model_error",
  "model_rate_limited",
]);
