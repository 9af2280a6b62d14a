import type { AgentSnapshot } from "../../domain/agent-snapshot.ts";
import { damagedRecord } from "../../domain/error-messages.ts";
import { AppError } from "../../domain/errors.ts";
import { notFound } from "../../domain/not-found.ts";
import { createdEvent, type JournalEntry, type RunCreated } from "../../domain/run-event.ts";
import type { Viewer } from "../../http/auth.ts";
import { isStorageRefusal } from "../../storage/db/corruption.ts";
import type { Journal } from "../../storage/journal/journal.ts";
import { readRecord } from "../../storage/journal/read-record.ts";
import type { RunRow } from "../run-row.ts";
import type { RunStore } from "../store.ts";

/** Source of a replay or fork. */
export interface ReplaySource {
  entries: JournalEntry[];
  created: RunCreated;
  /** The agent pinned by the recorded run. */
  pinned: AgentSnapshot;
}

/** Returns the row of a run that has a record. Throws if the viewer may not see it, or its trace was deleted. */
export function requireReplaySource(runs: RunStore, viewer: Viewer, id: string): RunRow {
  const row = runs.standing(viewer, id);
  if (row.summary !== null) throw notFound();
  return row;
}

/** Reads the record of a run in slices. Throws `record_damaged` if it cannot be read. */
export async function readReplaySource(
  { journal, runs }: { journal: Journal; runs: RunStore },
  viewer: Viewer,
  id: string,
  yieldTurn: () => Promise<void>,
): Promise<ReplaySource> {
  const row = requireReplaySource(runs, viewer, id);
  try {
    const entries = await readRecord(journal, id, yieldTurn);
    const created = createdIn(entries);
    return { entries, created, pinned: journal.snapshot(row, created.agent_hash) };
  } catch (error) {
    if (isStorageRefusal(error)) throw error; // A full disk does not mean that the record is damaged.
    requireReplaySource(runs, viewer, id); // It may have been deleted while it was read.
    throw damagedRecordError(error);
  }
}

/** Converts an error of folding a record: its entries do not follow from one another. */
export const damagedRecordError = (cause: unknown): AppError =>
  new AppError("record_damaged", damagedRecord, { cause });

/** Adds to the error for a missing agent that the pinned agent can be used instead. */
export function explainMissingAgent(error: unknown): unknown {
  if (!(error instanceof AppError) || error.code !== "resource_not_found") return error;
  const message = 'The agent of this run was deleted. Take the one that it was made with: `agent: "pinned"`.';
  return new AppError("resource_not_found", message, { param: "agent", cause: error });
}

function createdIn(entries: readonly JournalEntry[]): RunCreated {
  const { type: _, ...created } = createdEvent(entries);
  return created;
}
