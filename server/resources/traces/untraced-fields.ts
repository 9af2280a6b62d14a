import type { JournalEntry } from "../../domain/run-event.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Trace } from "../../domain/trace.ts";
import { lastItem } from "../../lib/collections.ts";
import { createYielder } from "../../lib/cooperative-yield.ts";
import type { Journal } from "../../storage/journal/journal.ts";
import { type ExportedAgent, exportedAgent } from "./exported-agent.ts";

/** Fields beside the steps that an import needs to rebuild the run. */
interface Rest {
  /** The agent as the run pinned it. */
  agent: ExportedAgent | null;
  /** Entries that belong to no step: the run's own, and requested tool calls. */
  raw: JournalEntry[];
}

const entriesPerRead = 64;

/** Collects the parts of the journal that the steps of a trace, read with `raw`, do not contain. */
export async function untracedFields(
  journal: Journal,
  row: Scope & { id: string },
  { steps, state }: Trace,
): Promise<Rest> {
  const pause = createYielder();
  const told = new Set(steps.flatMap(({ raw = [] }) => raw.map(({ seq }) => seq)));
  const rest: Rest = { agent: null, raw: [] };
  // Stop at the trace's last entry: later ones do not belong to it.
  for (let after = 0; after < state.seq; ) {
    const entries = journal.read(row.id, after, Math.min(entriesPerRead, state.seq - after));
    if (entries.length === 0) break; // Deleted meanwhile.
    for (const entry of entries) {
      if (!told.has(entry.seq)) rest.raw.push(entry);
      if (entry.event.type === "run.created") rest.agent = exportedAgent(journal.snapshot(row, entry.event.agent_hash));
    }
    after = lastItem(entries).seq;
    await pause();
  }
  return rest;
}
