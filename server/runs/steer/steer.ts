import type { AgentSnapshot } from "../../domain/agent-snapshot.ts";
import { AppError } from "../../domain/errors.ts";
import { decidedEvents, type Finding } from "../../domain/guardrail-event.ts";
import { activeAgent } from "../../domain/handoff.ts";
import { newId } from "../../domain/ids.ts";
import { limits } from "../../domain/limits.ts";
import type { RunEvent, RunSteered } from "../../domain/run-event.ts";
import {
  contentText,
  type InputMessage,
  type MessageMedia,
  mediaOfMessage,
  messageFault,
  partsOfMessage,
  recordedMedia,
  type ShownMedia,
} from "../../domain/run-input.ts";
import { fold, isOver, openStep, pendingCalls, type RunState, type RunStatus } from "../../domain/run-state.ts";
import { steeredFiles, steeredMost, unansweredMessages } from "../../domain/steering.ts";
import type { Viewer } from "../../http/auth.ts";
import { invalid } from "../../http/errors.ts";
import { inputMost } from "../../http/schemas.ts";
import { requireValue } from "../../lib/require-value.ts";
import { screenInput } from "../../runtime/guardrails/screen-input.ts";
import type { Author } from "../../storage/db/audit.ts";
import type { Inserted, Journal } from "../../storage/journal/journal.ts";
import { requireTaken } from "../create/require-taken.ts";
import type { Pool } from "../dispatch/pool.ts";
import type { RunTerminator } from "../end/terminate-run.ts";
import type { Note, RunStore } from "../store.ts";

/** A message for a run that is under way. */
export interface SentMessage {
  content: InputMessage["content"];
  interrupt?: boolean;
}

/** A message as the journal has it, and what guardrails found in it. */
interface ScreenedMessage {
  steered: { type: "run.steered" } & RunSteered;
  findings: Finding[];
  isBlocked: boolean;
}

interface SteeringOptions {
  journal: Journal;
  runs: RunStore;
  pool: Pool;
  ends: RunTerminator;
  /** Resolves images and recordings. */
  mediaOf(scope: Viewer, param: string, agentId: string): ShownMedia;
}

/** Sends messages to runs that are under way. */
export function createSteering({ journal, runs, pool, ends, mediaOf }: SteeringOptions) {
  /** Records a message; it is durable when this resolves. Throws if the run is over, or makes no further model call. */
  return async function steer(
    scope: Viewer & Partial<Author>,
    runId: string,
    { content, interrupt = false }: SentMessage,
    note?: Note,
  ): Promise<void> {
    const message: InputMessage = { role: "user", content };
    const wrong = messageFault(message, inputMost);
    if (wrong) throw invalid(paramOf(wrong.path), wrong.message);
    while (!(await send(scope, runId, message, interrupt, note)));
  };

  /** Returns false if another agent has taken over meanwhile, whose guardrails must screen the message instead. */
  async function send(
    scope: Viewer & Partial<Author>,
    runId: string,
    message: InputMessage,
    interrupt: boolean,
    note: Note | undefined,
  ): Promise<boolean> {
    requireUnderWay(runs.standing(scope, runId).status);
    const { agent, model, handoffs, agent_id } = await journal.prepared([runId], async () => agentOf(scope, runId));
    const media = mediaOf(scope, "content", agent_id);
    const prepared = await prepare(message, media, agent, model);
    if (scope.actor) prepared.steered.by = { type: scope.actor.type, id: scope.actor.id };
    let step: number | null = null;
    let isScreened = false;
    const write = () => {
      const before = runs.standing(scope, runId);
      requireUnderWay(before.status);
      const state = journal.state(runId);
      isScreened = state.handoffs.length === handoffs;
      if (!isScreened) return [];
      requireNextCall(state);
      requireFewFiles(state, prepared.steered);
      step = interrupt && !prepared.isBlocked ? (openStep(state, "model_call")?.step_index ?? null) : null;
      const inserted = insert(state, prepared, step !== null);
      media.keep({ run_id: runId });
      note?.(runs.standing(scope, runId), before.seq);
      return inserted;
    };
    const folded = [runId, ...runs.unfinishedBelow(runId)];
    const updates = await journal.prepared(folded, () => journal.commitAll(write, scope));
    if (!isScreened) return false;
    media.kept();
    for (const [id] of updates) if (isOver(requireValue(journal.head(id), `The run ${id}`).status)) pool.abort(id);
    if (step !== null) pool.interrupt(runId, step);
    return true;
  }

  /** Returns the agent that answers now, its model, the number of handoffs before, and the id of the run's own agent. */
  function agentOf(scope: Viewer, runId: string) {
    const state = journal.state(runId);
    const { run, model } = state;
    const agent = activeAgent(state, journal.snapshot(scope, run.agent_hash));
    return { agent, model, handoffs: state.handoffs.length, agent_id: run.agent_id };
  }

  /** Call inside a write. A message that a guardrail blocks ends its run, like an input. */
  function insert(state: RunState, { steered, findings, isBlocked }: ScreenedMessage, interrupts: boolean): Inserted[] {
    const { run_id } = state.run;
    const { message_id } = steered;
    const marked: RunEvent = { ...steered, ...(interrupts && { interrupt: true }) };
    if (!isBlocked) {
      const kept = findings.map(({ guardrail, verdict, message, matches }) => ({
        guardrail,
        verdict,
        message,
        matches,
      }));
      return [[run_id, journal.insert(run_id, [{ ...marked, ...(kept.length > 0 && { findings: kept }) }])]];
    }
    const about = findings.map((finding) => ({ ...finding, message_id }));
    const decided = decidedEvents(about, state.steps, Math.max(0, state.turns - 1));
    const entries = journal.insert(run_id, [marked, ...decided]);
    const last = fold(entries, state);
    return ends
      .failed(last, requireValue(last.blocked, "The verdict"))
      .map(([id, ended]) => [id, id === run_id ? [...entries, ...ended] : ended]);
  }
}

async function prepare(
  message: InputMessage,
  media: ShownMedia,
  agent: AgentSnapshot,
  model: string,
): Promise<ScreenedMessage> {
  const parts = partsOfMessage(message, "").map(({ part, path }) => ({ part, path: path.replace(contentPath, "") }));
  await media.fetch(parts);
  const shown: MessageMedia = recordedMedia(parts, media.of);
  requireTaken(model, { input: "", ...shown }, "content");
  const { asked, findings, isBlocked } = await screenInput(agent, { input: contentText(message.content), ...shown });
  const { input, ...content } = asked;
  const steered = {
    type: "run.steered" as const,
    message_id: newId("message"),
    content: input,
    ...mediaOfMessage(content),
  };
  return { steered, findings, isBlocked };
}

const contentPath = /^\.content/;

/** Returns the parameter of a fault. */
const paramOf = (path: string): string => (path === "" ? "content" : path.slice(1));

function requireUnderWay(status: RunStatus): void {
  if (isOver(status)) throw new AppError("run_already_terminal", `The run is ${status} already and takes no message.`);
}

/** Throws if the run would have too many documents with those of the message. */
function requireFewFiles({ run, messages, held = [] }: RunState, { files = [] }: RunSteered): void {
  const before = [...run.file_ids, ...steeredFiles([...messages, ...held])];
  const all = new Set([...before, ...files.map(({ file_id }) => file_id)]);
  if (files.length > 0 && all.size > limits.files_per_run)
    throw new AppError("run_not_steerable", `A run has at most ${limits.files_per_run} documents.`);
}

/** True if a handoff gives the run the model calls of the next agent. One more than a run may have is refused. */
const isHandingOver = (state: RunState): boolean =>
  state.handoffs.length < limits.handoffs_per_run && pendingCalls(state).some(({ type }) => type === "handoff");

/** Throws if no further model call would have the message. */
function requireNextCall(state: RunState): void {
  const { max_turns } = state.run;
  if (state.turns >= max_turns && !isHandingOver(state))
    throw new AppError("run_not_steerable", `The last of the run's ${max_turns} model calls (max_turns) has begun.`);
  if (unansweredMessages(state) >= steeredMost)
    throw new AppError("run_not_steerable", `${steeredMost} messages wait for the next model call.`);
}
