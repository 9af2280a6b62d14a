import { decide, withFollowUp } from "../../domain/decide.ts";
import { decidedEvents } from "../../domain/guardrail-event.ts";
import { activeAgent } from "../../domain/handoff.ts";
import { pausesNow } from "../../domain/pause.ts";
import type { PendingJudgement } from "../../domain/pending-judgements.ts";
import type { JournalEntry, Preparation, RunEvent } from "../../domain/run-event.ts";
import { apply, fold, type RunState } from "../../domain/run-state.ts";
import { attachDocuments } from "./attach-documents.ts";
import { callModel } from "./call-model.ts";
import { connectedModel } from "./callee.ts";
import { compact } from "./compact.ts";
import { handOver } from "./hand-over.ts";
import { askJudges, judgesOn } from "./judge.ts";
import type { RunStart } from "./messages.ts";
import { retrieve } from "./retrieve.ts";
import type { RunContext, RunPorts } from "./run-context.ts";
import { runTools } from "./run-tools.ts";

/** Drives a run until it stops: new, resumed or recovered at boot; only `history` differs. */
export async function runLoop(start: RunStart, ports: RunPorts, signal: AbortSignal): Promise<void> {
  let state = fold(start.history);
  let reservedSteps = 0;
  const context: RunContext = {
    state: () => state,
    record: (...events) => append(events, events.length),
    recordUnlessAsked: (...events) => append(events, 0),
    takeSteps(count) {
      const first = Math.max(state.steps, reservedSteps);
      reservedSteps = first + count;
      return first;
    },
    get start() {
      return activeStart(start, state);
    },
    ports,
    signal,
  };
  /**
   * Appends first, then applies: the state follows the journal. If a request to the run came meanwhile, only the facts
   * are appended, and the loop decides again. A run that is to pause does so at once, since a child run may keep the loop
   * waiting.
   */
  async function append(events: readonly RunEvent[], facts: number): Promise<JournalEntry[]> {
    const all = withFollowUp(state, events, start.agent, ports.now());
    const { seq, at, kept = all.length, missed = [] } = await ports.append(all, { after: state.seq, facts });
    const entries = all.slice(0, kept).map((event, index) => ({ seq: seq + index, at, event }));
    const unknown = missed.filter((entry) => entry.seq > state.seq);
    state = [...unknown, ...entries].reduce(apply, state);
    if (pausesNow(state) && decide(state, start.agent, ports.now()).do === "record") await append([], 0);
    return entries;
  }
  for (;;) {
    const next = decide(state, start.agent, ports.now());
    switch (next.do) {
      case "stop":
        return;
      case "record":
        await append(next.events, 0);
        break;
      case "judge":
        await judgePending(next.text, context);
        break;
      case "prepare":
        await prepare(next.what, context);
        break;
      case "call_model":
        await callModel(context);
        break;
      case "compact":
        await compact(context);
        break;
      case "run_tools":
        await runTools(next.calls, context);
        break;
      case "hand_over":
        await handOver(next.calls, start.agent, context);
        break;
      default:
        return next satisfies never;
    }
  }
}

/** Returns the start with the agent that answers now and its first model. */
function activeStart(start: RunStart, state: RunState): RunStart {
  const agent = activeAgent(state, start.agent);
  return agent === start.agent ? start : { ...start, ...connectedModel(agent.model, start), agent };
}

/** Asks one judge about one text of the next prompt. The verdict is journaled, so that no judge is asked twice. */
async function judgePending(
  { index, on, text, tool_call_id, message_id }: PendingJudgement,
  turn: RunContext,
): Promise<void> {
  const judges = judgesOn(turn, on).filter((one) => one.index === index);
  const findings = await askJudges(judges, on, text, turn);
  const about = findings.map((finding) => ({
    ...finding,
    tool_call_id,
    ...(message_id !== undefined && { message_id }),
  }));
  await turn.record(...decidedEvents(about, turn.takeSteps(about.length), Math.max(0, turn.state().turns - 1)));
}

/** Journals the earlier messages of the run's thread, so that its prompt depends only on its journal. */
async function loadHistory({ start, ports, record }: RunContext): Promise<void> {
  const max_messages = start.agent.memory?.history.max_messages ?? 0;
  await record({ type: "history.loaded", messages: await ports.ask("history", { max_messages }) });
}

const preparations: Record<Preparation, (turn: RunContext) => Promise<void>> = {
  history: loadHistory,
  documents: attachDocuments,
  retrieval: retrieve,
};

/** Runs a preparation before the first model call. Journaled preparations are not repeated. */
const prepare = (what: Preparation, turn: RunContext): Promise<void> => preparations[what](turn);
