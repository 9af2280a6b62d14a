import { hashJson } from "../lib/hash.ts";
import { parsedJson } from "../lib/json.ts";
import { validateAgainst } from "../lib/json-schema.ts";
import { requireValue } from "../lib/require-value.ts";
import type { AgentSnapshot } from "./agent-snapshot.ts";
import { budgetMessage, tooManyCalls } from "./budget.ts";
import { isTooLong, planContext, widerModel } from "./context.ts";
import { dropMessages } from "./drop-messages.ts";
import { decidedEvents } from "./guardrail-event.ts";
import { activeAgent } from "./handoff.ts";
import { newId } from "./ids.ts";
import { isCutJson, jsonAnswer } from "./json-answer.ts";
import type { JsonSchema } from "./model-call.ts";
import { pausesNow } from "./pause.ts";
import { type PendingJudgement, pendingJudgements } from "./pending-judgements.ts";
import { loadedInRun, modelRequest } from "./prompt.ts";
import { requiredAction } from "./required-action.ts";
import { restartStep } from "./restart.ts";
import { startOfRetrieval } from "./retrieval.ts";
import { runError } from "./run-error.ts";
import type { Preparation, RunError, RunEvent } from "./run-event.ts";
import type { RunModel } from "./run-models.ts";
import {
  applyAll,
  type InitialState,
  isAwaitingAnswer,
  openStep,
  pendingCalls,
  type RunState,
  type ToolCall,
} from "./run-state.ts";
import { startStep } from "./step-events.ts";
import { failedEvents } from "./terminal-events.ts";
import { textOf } from "./text-of.ts";

/** Next action of a run: append events that follow without work, do a piece of work, or stop. */
type Command =
  | { do: "stop" }
  | { do: "record"; events: RunEvent[] }
  | { do: "judge"; text: PendingJudgement }
  | { do: "prepare"; what: Preparation }
  | { do: "compact" }
  | { do: "call_model" }
  | { do: "run_tools"; calls: ToolCall[] }
  | { do: "hand_over"; calls: ToolCall[] };

/** Number of crashes in a row without progress after which a run fails. */
export const maxCrashesWithoutProgress = 3;

/**
 * Returns the next action. Depends on the state, the pinned agent and `now` only, without I/O. The run loop, requests,
 * forks and replays all decide here.
 */
export function decide(state: RunState, pinned: AgentSnapshot, now: number): Command {
  const agent = activeAgent(state, pinned);
  if (state.status !== "in_progress") return { do: "stop" };
  const fail = (error: RunError): Command => record(failedEvents(state, error, now));
  if (state.stalls >= maxCrashesWithoutProgress) return fail(crashLoop(state));
  if (state.blocked) return fail(state.blocked);
  if (openStep(state, "compaction")) return { do: "compact" };
  const unlessPaused = (then: () => Command): Command => (pausesNow(state) ? record([{ type: "run.paused" }]) : then());
  const { model_error } = state;
  if (model_error)
    return isTooLong(state) ? unlessPaused(() => record(nextCall(state, agent, now))) : fail(model_error);
  // Request no tool output or approval before the judges have agreed.
  const judged = (then: () => Command): Command => {
    const [text] = pendingJudgements(state, agent);
    return text ? { do: "judge", text } : then();
  };
  if (openStep(state, "model_call")) return judged(() => ({ do: "call_model" }));
  const unusable = agent.unavailable?.[0];
  const [what] = state.to_prepare;
  if (what && unusable) return fail(unavailable(unusable, state));
  if (what) return unlessPaused(() => judged(() => prepare(what, state, agent)));
  const tooMany = tooManyCalls(state);
  if (tooMany) return fail(runError("budget_exceeded", budgetMessage(tooMany), state));
  const pending = pendingCalls(state);
  const runnableCalls = pending.filter((call) => !isAwaitingAnswer(call));
  // A handoff comes after the other calls of its answer, whose results belong to the conversation that it hands over.
  const toolCalls = runnableCalls.filter(({ type }) => type !== "handoff");
  if (toolCalls.length > 0) return unlessPaused(() => ({ do: "run_tools", calls: toolCalls }));
  const waiting = pending.filter(isAwaitingAnswer);
  if (waiting.length > 0) return record([requireAction(state, waiting, now)]);
  const found = state.unrecorded ?? [];
  const recordFound = (): Command => record(decidedEvents(found, state.steps, Math.max(0, state.turns - 1)));
  // Findings of this agent's rules are recorded before the rules of the next one check the same messages.
  if (runnableCalls.length > 0 && found.length > 0) return recordFound();
  if (runnableCalls.length > 0) return unlessPaused(() => ({ do: "hand_over", calls: runnableCalls }));
  const last = state.messages.at(-1);
  if (last?.role === "assistant" && !state.is_continued && !last.interrupted)
    return record(complete(state, agent, textOf(last.parts), now));
  if (state.turns >= state.run.max_turns) return fail(outOfTurns(state));
  if (found.length > 0) return recordFound();
  if (state.turns === 0 && unusable) return fail(unavailable(unusable, state));
  return unlessPaused(() => judged(() => record(nextCall(state, agent, now))));
}

/**
 * Returns these events and those that follow without work. They are appended together, because each append is a commit.
 * If `state` lags behind other appends, the run only waits longer.
 */
export function withFollowUp(
  state: RunState | InitialState,
  events: readonly RunEvent[],
  agent: AgentSnapshot,
  now: number,
): RunEvent[] {
  const next = decide(applyAll(state, events, now), agent, now);
  return next.do === "record" ? [...events, ...next.events] : [...events];
}

const record = (events: RunEvent[]): Command => ({ do: "record", events });

const crashLoop = (state: RunState): RunError =>
  runError(
    "crash_loop",
    `The process died ${maxCrashesWithoutProgress} times in a row while this run made no progress.`,
    state,
  );

const outOfTurns = (state: RunState): RunError =>
  runError("max_turns_exceeded", `Stopped after ${state.run.max_turns} model calls (max_turns).`, state);

/** Error of an agent that lacks one of its tools: the run must not use a different agent than intended. */
const unavailable = ({ tool, message }: { tool: string; message: string }, state: RunState): RunError =>
  runError("tool_error", `The tool ${tool} cannot be used: ${message}`, state, true);

/** Prepares the model call. Only a retrieval has a start event, with its query. */
const prepare = (what: Preparation, state: RunState, agent: AgentSnapshot): Command =>
  what === "retrieval" && !openStep(state, "retrieval")
    ? record([startOfRetrieval(state, agent)])
    : { do: "prepare", what };

/**
 * Starts a model call, or before it the compaction that makes its prompt fit; ends the run if that fails. A model that
 * refused its prompt is called again only with a shorter one.
 */
function nextCall(state: RunState, agent: AgentSnapshot, now: number): RunEvent[] {
  const plan = planContext(state, agent);
  const wider = plan && widerModel(state, agent);
  if (wider) return startWithWider(state, agent, wider, now);
  if (plan?.do === "fail") return failedEvents(state, plan.error, now);
  if (plan) return withFollowUp(state, dropMessages(plan, state, agent), agent, now);
  return state.model_error ? failedEvents(state, state.model_error, now) : [startOfCall(state, agent)];
}

function startOfCall(state: RunState, agent: AgentSnapshot): RunEvent {
  const tools_loaded = loadedInRun(state, agent);
  return startStep({
    step_index: state.steps,
    step_type: "model_call",
    turn_index: state.turns,
    name: state.model,
    input_hash: hashJson(modelRequest(state, agent)),
    ...(tools_loaded && { tools_loaded }),
  });
}

/** Starts a model call with a model that has room for the prompt; the run stays with that model. */
function startWithWider(state: RunState, agent: AgentSnapshot, { model }: RunModel, now: number): RunEvent[] {
  const start = startOfCall(state, agent);
  const step = requireValue(openStep(applyAll(state, [start], now), "model_call"), "The started call");
  const reason = { code: "context_length_exceeded", message: `The prompt is too long for ${state.model}.` };
  return [start, restartStep(step, reason, { model })];
}

const requireAction = (state: RunState, calls: ToolCall[], now: number): RunEvent => ({
  type: "run.requires_action",
  required_action: requiredAction(calls, now + state.run.action_timeout_ms),
});

/** Ends the run, unless the output does not fit its schema: then the model gets one turn to correct it. */
function complete(state: RunState, agent: AgentSnapshot, output: string, now: number): RunEvent[] {
  const { usage } = state;
  const checked = checkOutput(output, agent.output_schema);
  if (checked.ok) return [{ type: "run.completed", output: checked.text, output_json: checked.value, usage }];
  if (state.repairs === 0 && state.turns < state.run.max_turns)
    return withFollowUp(state, [rejection(checked.fault)], agent, now);
  const message = `The output does not fit the agent's output_schema: ${checked.fault}`;
  return [{ type: "run.failed", error: runError("output_schema_mismatch", message, state), output, usage }];
}

const rejection = (fault: string): RunEvent => ({
  type: "output.rejected",
  message_id: newId("message"),
  content: `Your answer does not fit the required JSON schema: ${fault} Answer again with nothing but JSON that fits it.`,
});

/** Parses an answer by its schema, if there is one. Words and code fences around the JSON are left out. */
function checkOutput(
  text: string,
  schema: JsonSchema | null,
): { ok: true; text: string; value: unknown } | { ok: false; fault: string } {
  if (!schema) return { ok: true, text, value: null };
  const json = jsonAnswer(text);
  if (json === null)
    return { ok: false, fault: isCutJson(text) ? "it breaks off within the JSON." : "it is not JSON." };
  const value = parsedJson(json);
  const [fault] = validateAgainst(schema, value);
  return fault
    ? { ok: false, fault: `${fault.path || "the value"} ${fault.message}.` }
    : { ok: true, text: json, value };
}
