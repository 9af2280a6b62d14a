import type { AgentSnapshot } from "../core/agent-snapshot.ts";
import { AppError } from "../core/errors.ts";
import { notFound } from "../core/not-found.ts";
import type { JournalEntry, RunCreated } from "../core/run-event.ts";
import { isStorageRefusal } from "../db/damage.ts";
import type { Viewer } from "../http/auth.ts";
import type { Journal } from "../journal/journal.ts";
import { readRecord } from "../journal/read-record.ts";
import type { RunRow } from "./run-row.ts";
import type { RunStore } from "./store.ts";

/** What a replay or a fork is made of. */
export interface SourceRecord {
  entries: JournalEntry[];
  created: RunCreated;
  /** The agent that the record was made with. */
  pinned: AgentSnapshot;
}

/** The row of a run that has a record; throws where there is none that this viewer may see, or its trace was deleted. */
export function requireRecord(runs: RunStore, viewer: Viewer, id: string): RunRow {
  const row = runs.standing(viewer, id);
  if (row.summary !== null) throw notFound();
  return row;
}

/** The record of a run, read while others go on. Throws `record_damaged` where nobody can read it any more. */
export async function sourceRecord(
  { journal, runs }: { journal: Journal; runs: RunStore },
  viewer: Viewer,
  id: string,
  rest: () => Promise<void>,
): Promise<SourceRecord> {
  const row = requireRecord(runs, viewer, id);
  try {
    const entries = await readRecord(journal, id, rest);
    const created = createdIn(entries);
    return { entries, created, pinned: journal.snapshot(row, created.agent_hash) };
  } catch (error) {
    if (isStorageRefusal(error)) throw error; // A full disk is nobody's damage.
    requireRecord(runs, viewer, id); // It may have been deleted while it was read.
    throw damaged(error);
  }
}

/** What does not follow from what was before it is no journal. */
export const damaged = (cause: unknown): AppError =>
  new AppError("record_damaged", "The record of this run is damaged and cannot be read.", { cause });

/** Of an error that says that there is no such agent: what could be asked for instead. */
export function namedAgent(error: unknown): unknown {
  if (!(error instanceof AppError) || error.code !== "resource_not_found") return error;
  const message = 'The agent of this run was deleted. Take the one that it was made with: `agent: "pinned"`.';
  return new AppError("resource_not_found", message, { param: "agent", cause: error });
}

function createdIn([first]: readonly JournalEntry[]): RunCreated {
  if (first?.event.type !== "run.created") throw new Error("A journal begins with run.created.");
  const { type: _, ...created } = first.event;
  return created;
}
