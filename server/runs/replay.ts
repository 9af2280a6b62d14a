import type { AgentSnapshot } from "../core/agent-snapshot.ts";
import { failedEvents } from "../core/conclude.ts";
import type { Found } from "../core/divergence.ts";
import { AppError } from "../core/errors.ts";
import { foldInSlices } from "../core/fold-in-slices.ts";
import { newId } from "../core/ids.ts";
import { forkedTo, replay } from "../core/replay.ts";
import type { JournalEntry, Replay, RunCreated, RunError } from "../core/run-event.ts";
import { isOver, type RunState } from "../core/run-state.ts";
import { createReplayScreen } from "../guardrails/replay-screen.ts";
import type { Viewer } from "../http/auth.ts";
import type { Inserted, Journal } from "../journal/journal.ts";
import { createOneByOne } from "../lib/one-by-one.ts";
import { inSlices } from "../lib/slices.ts";
import { withToolsOf } from "./request-tools.ts";
import type { RunRow } from "./run-row.ts";
import type { ReplayRun } from "./schema.ts";
import { damaged, namedAgent, requireRecord, type SourceRecord, sourceRecord } from "./source-record.ts";
import { type Note, type RunStore, type ShownRun, shownAs } from "./store.ts";

export type Replays = ReturnType<typeof createReplays>;

// Of a run that comes out otherwise at every step, the rest says nothing new.
const shownMax = 100;

/** Performs runs that are over again, by their records alone: no model, tool or network has a part in it. */
export function createReplays({
  journal,
  runs,
  snapshot,
  now,
}: {
  journal: Journal;
  runs: RunStore;
  /** The agent as it is now; throws for one that is not there. */
  snapshot(viewer: Viewer, agentId: string): AgentSnapshot;
  now: () => number;
}) {
  // One of a project at a time: each takes the thread for milliseconds before it lets others go on, and many would stop it.
  const inLine = createOneByOne();

  /** Makes a run of what the replay of another one came to; it is over when it is there. */
  async function create(
    viewer: Viewer,
    sourceId: string,
    { mode = "strict", agent: which = "pinned" }: ReplayRun,
    requestId: string,
    note?: Note,
  ): Promise<ShownRun> {
    requireOver(requireRecord(runs, viewer, sourceId));
    const rest = inSlices();
    const source = await sourceRecord({ journal, runs }, viewer, sourceId, rest);
    const { created, pinned } = source;
    const agent = which === "pinned" ? pinned : withToolsOf(currentAgent(viewer, created), pinned);
    const found = await inLine(viewer.project_id, () => divergences(source, agent, mode)).catch((error) => {
      throw damaged(error);
    });
    const held = { mode, agent: which, agent_version: agent.version };
    const own = { replay_of: sourceId, request_id: requestId };
    return insert(viewer, await copied(source, found, held, own, now(), rest), pinned, rest, note);
  }

  async function insert(
    viewer: Viewer,
    record: readonly JournalEntry[],
    pinned: AgentSnapshot,
    rest: () => Promise<void>,
    note: Note | undefined,
  ): Promise<ShownRun> {
    const state = await foldInSlices(record, rest);
    const run = { ...state.run!, run_id: newId("run", now()) }; // In the order of the writes, as all runs.
    const { run_id } = run;
    const first = { ...record[0]!, event: { ...run, type: "run.created" as const } };
    const own = [first, ...record.slice(1)];
    const insert = (): Inserted[] => {
      requireRecord(runs, viewer, run.replay_of!); // It may have been deleted in the meantime.
      const inserted = journal.insertRecord(run_id, own);
      journal.pin(viewer, run_id, pinned);
      note?.(runs.standing(viewer, run_id), 0);
      return [[run_id, inserted]];
    };
    await journal.commitRecords([[run_id, own]], insert, viewer);
    await rest();
    return shownAs({ ...state, run }, null);
  }

  function currentAgent(viewer: Viewer, { agent_id }: RunCreated): AgentSnapshot {
    try {
      return snapshot(viewer, agent_id);
    } catch (error) {
      throw namedAgent(error);
    }
  }

  return { create };
}

function requireOver({ status }: RunRow): void {
  if (!isOver(status))
    throw new AppError("run_not_terminal", `The run is ${status}: it can be replayed once it has ended.`);
}

/** A strict replay ends at the first one. */
async function divergences(
  { entries, pinned }: SourceRecord,
  agent: AgentSnapshot,
  mode: Replay["mode"],
): Promise<Found[]> {
  const found: Found[] = [];
  const against = { agent, pinned, screen: createReplayScreen(agent, pinned), rest: inSlices() };
  for await (const one of replay(entries, against)) {
    found.push(one);
    if (mode === "strict") break;
  }
  return found;
}

type Held = Pick<Replay, "mode" | "agent" | "agent_version">;

/** The record with its own durations, so that it ends now: whole, or up to where a strict replay came out otherwise. */
async function copied(
  { entries, created }: SourceRecord,
  found: readonly Found[],
  held: Held,
  own: Pick<RunCreated, "replay_of" | "request_id">,
  at: number,
  rest: () => Promise<void>,
): Promise<JournalEntry[]> {
  const [cutAt] = held.mode === "strict" ? found : [];
  const kept = cutAt ? entries.filter(({ seq }) => seq === 1 || seq < cutAt.seq) : entries;
  const later = at - (cutAt ? entries[cutAt.seq - 1]! : entries.at(-1)!).at;
  const run = copyOf(created, kept.length, { ...own, replay: outcomeOf(kept, found, held) });
  const record = kept.map((entry, index): JournalEntry => {
    const event = index === 0 ? ({ type: "run.created", ...run } as const) : entry.event;
    return { ...entry, at: entry.at + later, event };
  });
  return cutAt ? [...record, ...endOf(await foldInSlices(record, rest), cutAt, at)] : record;
}

function outcomeOf(kept: readonly JournalEntry[], found: readonly Found[], held: Held): Replay {
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

/** A copy has the record, and neither a thread nor a parent of its own that anything could come of. */
function copyOf(
  { parent_call_id: _, depth: __, imported, queued, ...source }: RunCreated,
  length: number,
  own: Pick<RunCreated, "replay_of" | "request_id" | "replay">,
): RunCreated {
  const forked_to = forkedTo(source);
  return {
    ...source,
    ...own,
    thread_id: null,
    parent_run_id: null,
    on_disconnect: "continue",
    recorded_to: length,
    ...(forked_to && { forked_to }),
    ...(imported && { foreign_agent: true as const }), // What is forked from the copy is not to be trusted more.
    ...(queued && length > 1 && { queued }),
  };
}

/** The end of a replay that came out otherwise, where it did. */
function endOf(state: RunState, { seq: _, ...divergence }: Found, at: number): JournalEntry[] {
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
