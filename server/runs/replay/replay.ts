import type { AgentSnapshot } from "../../domain/agent-snapshot.ts";
import type { LocatedDivergence } from "../../domain/divergence.ts";
import { AppError } from "../../domain/errors.ts";
import { foldInSlices } from "../../domain/fold-in-slices.ts";
import { newId } from "../../domain/ids.ts";
import { lastCopiedSeq, replay } from "../../domain/replay.ts";
import {
  createdEvent,
  type JournalEntry,
  type Replay,
  type RunCreated,
  type RunError,
} from "../../domain/run-event.ts";
import { isOver, type RunState } from "../../domain/run-state.ts";
import { failedEvents } from "../../domain/terminal-events.ts";
import type { Viewer } from "../../http/auth.ts";
import { firstItem } from "../../lib/collections.ts";
import { createYielder } from "../../lib/cooperative-yield.ts";
import { createKeyedMutex } from "../../lib/keyed-mutex.ts";
import { requireValue } from "../../lib/require-value.ts";
import { createReplayScreen } from "../../runtime/guardrails/replay-screen.ts";
import type { Inserted, Journal } from "../../storage/journal/journal.ts";
import { withToolsOf } from "../create/request-tools.ts";
import type { RunRow } from "../run-row.ts";
import type { ReplayRun } from "../schema.ts";
import { type Note, type RunStore, type ShownRun, serializeState } from "../store.ts";
import {
  damagedRecordError,
  explainMissingAgent,
  type ReplaySource,
  readReplaySource,
  requireReplaySource,
} from "./replay-source.ts";

export type Replays = ReturnType<typeof createReplays>;

// Maximum number of divergences returned: after that many, more say nothing new.
const shownMax = 100;

/** Replays finished runs from their records alone, without model, tool or network. */
export function createReplays({
  journal,
  runs,
  snapshot,
  now,
}: {
  journal: Journal;
  runs: RunStore;
  /** Returns the current agent; throws if it does not exist. */
  snapshot(viewer: Viewer, agentId: string, overrides: undefined, version: null, key: string): AgentSnapshot;
  now: () => number;
}) {
  // One replay per project at a time: each works for milliseconds between yields, so that many would block the thread.
  const inLine = createKeyedMutex();

  /** Creates a run with the outcome of the replay; the run is over when this resolves. */
  async function create(
    viewer: Viewer,
    sourceId: string,
    { mode = "strict", agent: agentChoice = "pinned" }: ReplayRun,
    requestId: string,
    note?: Note,
  ): Promise<ShownRun> {
    requireOver(requireReplaySource(runs, viewer, sourceId));
    const yieldTurn = createYielder();
    const source = await readReplaySource({ journal, runs }, viewer, sourceId, yieldTurn);
    const { created, pinned } = source;
    const agent = agentChoice === "pinned" ? pinned : withToolsOf(currentAgent(viewer, created), pinned);
    const locatedDivergences = await inLine(viewer.project_id, () => divergences(source, agent, mode)).catch(
      (error) => {
        throw damagedRecordError(error);
      },
    );
    const settings = { mode, agent: agentChoice, agent_version: agent.version };
    const copyFields = { replay_of: sourceId, request_id: requestId };
    return insert(
      viewer,
      await copyRecord(source, locatedDivergences, settings, copyFields, now(), yieldTurn),
      pinned,
      yieldTurn,
      note,
    );
  }

  async function insert(
    viewer: Viewer,
    record: readonly JournalEntry[],
    pinned: AgentSnapshot,
    rest: () => Promise<void>,
    note: Note | undefined,
  ): Promise<ShownRun> {
    const state = await foldInSlices(record, rest);
    const run_id = newId("run", now()); // Created at the write, as for all runs.
    const run = { ...createdEvent(record), run_id };
    const first = { ...firstItem(record), event: run };
    const ownRecord = [first, ...record.slice(1)];
    const insert = (): Inserted[] => {
      requireReplaySource(runs, viewer, requireValue(run.replay_of, "The source of a replay")); // It may have been deleted in the meantime.
      const inserted = journal.insertRecord(run_id, ownRecord);
      journal.pin(viewer, run_id, pinned);
      note?.(runs.standing(viewer, run_id), 0);
      return [[run_id, inserted]];
    };
    await journal.commitRecords([[run_id, ownRecord]], insert, viewer);
    await rest();
    return serializeState({ ...state, run: { ...state.run, run_id } }, null);
  }

  function currentAgent(viewer: Viewer, { agent_id, thread_id, user_id, run_id }: RunCreated): AgentSnapshot {
    try {
      return snapshot(viewer, agent_id, undefined, null, thread_id ?? user_id ?? run_id);
    } catch (error) {
      throw explainMissingAgent(error);
    }
  }

  return { create };
}

function requireOver({ status }: RunRow): void {
  if (!isOver(status))
    throw new AppError("run_not_terminal", `The run is ${status}: it can be replayed once it has ended.`);
}

/** Returns the divergences; a strict replay stops at the first. */
async function divergences(
  { entries, pinned }: ReplaySource,
  agent: AgentSnapshot,
  mode: Replay["mode"],
): Promise<LocatedDivergence[]> {
  const found: LocatedDivergence[] = [];
  const options = { agent, pinned, screen: createReplayScreen(agent, pinned), rest: createYielder() };
  for await (const one of replay(entries, options)) {
    found.push(one);
    if (mode === "strict") break;
  }
  return found;
}

type Held = Pick<Replay, "mode" | "agent" | "agent_version">;

/** Returns the record shifted in time so that it ends now: whole, or cut where a strict replay diverged. */
async function copyRecord(
  { entries, created }: ReplaySource,
  found: readonly LocatedDivergence[],
  held: Held,
  own: Pick<RunCreated, "replay_of" | "request_id">,
  at: number,
  rest: () => Promise<void>,
): Promise<JournalEntry[]> {
  const [cutAt] = held.mode === "strict" ? found : [];
  const copiedEntries = cutAt ? entries.filter(({ seq }) => seq === 1 || seq < cutAt.seq) : entries;
  const shift = at - requireValue(entries.at(cutAt ? cutAt.seq - 1 : -1), "The last entry of the copy").at;
  const run = copyOf(created, copiedEntries.length, { ...own, replay: outcomeOf(copiedEntries, found, held) });
  const record = copiedEntries.map((entry, index): JournalEntry => {
    const event = index === 0 ? ({ type: "run.created", ...run } as const) : entry.event;
    return { ...entry, at: entry.at + shift, event };
  });
  return cutAt ? [...record, ...endOf(await foldInSlices(record, rest), cutAt, at)] : record;
}

function outcomeOf(kept: readonly JournalEntry[], found: readonly LocatedDivergence[], held: Held): Replay {
  const divergences = found.slice(0, shownMax).map(({ seq: _, ...divergence }) => divergence);
  const steps = new Set(kept.flatMap(({ event }) => ("step_id" in event ? [event.step_index] : [])));
  for (const { step_index } of found) steps.delete(step_index);
  return {
    ...held,
    divergences,
    first_divergence: divergences[0] ?? null,
    matched_steps: steps.size,
    model_calls: 0,
    tool_calls: 0,
  };
}

/** Returns the creation event of the copy, without thread or parent, so that it affects no other run. */
function copyOf(
  { parent_call_id: _, depth: __, imported, queued, ...source }: RunCreated,
  length: number,
  own: Pick<RunCreated, "replay_of" | "request_id" | "replay">,
): RunCreated {
  const forked_to = lastCopiedSeq(source);
  return {
    ...source,
    ...own,
    thread_id: null,
    parent_run_id: null,
    on_disconnect: "continue",
    recorded_to: length,
    ...(forked_to && { forked_to }),
    ...(imported && { foreign_agent: true as const }), // Forks of the copy are trusted no more than the imported run.
    ...(queued && length > 1 && { queued }),
  };
}

/** Returns the entries that end a strict replay at its divergence. */
function endOf(state: RunState, { seq: _, ...divergence }: LocatedDivergence, at: number): JournalEntry[] {
  const error: RunError = {
    type: "run_error",
    code: "replay_diverged",
    message: `The replay diverged at step ${divergence.step_index}: ${divergence.message}`,
    step_index: divergence.step_index,
    retryable: false,
    divergence,
  };
  return failedEvents(state, error, at).map((event, index) => ({ seq: state.seq + index + 1, at, event }));
}
