import type { AgentSnapshot } from "../core/agent-snapshot.ts";
import type { JournalEntry } from "../core/run-event.ts";
import type { Scope } from "../core/scope.ts";
import type { Trace } from "../core/trace.ts";
import type { Journal } from "../journal/journal.ts";
import { inSlices } from "../lib/slices.ts";
import { exportedAgent } from "./exported-agent.ts";

/** What a trace has to have beside its steps to be a run again elsewhere. */
interface Rest {
  /** The agent as its run pinned it. */
  agent: AgentSnapshot | null;
  /** The entries that belong to no step: the run's own, and what was asked of tools. */
  raw: JournalEntry[];
}

const entriesPerRead = 64;

/** What the steps of a trace, read with `raw`, do not tell of the journal. */
export async function restOf(journal: Journal, row: Scope & { id: string }, { steps, state }: Trace): Promise<Rest> {
  const pause = inSlices();
  const told = new Set(steps.flatMap(({ raw = [] }) => raw.map(({ seq }) => seq)));
  const rest: Rest = { agent: null, raw: [] };
  // What has happened since the trace was read is none of it.
  for (let after = 0; after < state.seq; ) {
    const entries = journal.read(row.id, after, Math.min(entriesPerRead, state.seq - after));
    if (entries.length === 0) break; // Deleted meanwhile.
    for (const entry of entries) {
      if (!told.has(entry.seq)) rest.raw.push(entry);
      if (entry.event.type === "run.created") rest.agent = exportedAgent(journal.snapshot(row, entry.event.agent_hash));
    }
    after = entries.at(-1)!.seq;
    await pause();
  }
  return rest;
}
