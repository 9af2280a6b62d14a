import { byteLength } from "../domain/byte-length.ts";
import { foldInSlices } from "../domain/fold-in-slices.ts";
import type { JournalEntry } from "../domain/run-event.ts";
import {
  callsById,
  messageObject,
  type RunList,
  type RunObject,
  runObject,
  runOfSummary,
  toolCallObject,
} from "../domain/run-object.ts";
import { type RunSummary, runSummary } from "../domain/run-summary.ts";
import type { Scope } from "../domain/scope.ts";
import { pageRoom, readRows } from "../http/page.ts";
import type { Journal } from "../storage/journal/journal.ts";
import type { TerminalEventCache, TerminalEventRow } from "../storage/journal/terminal-event-cache.ts";

/** A run in a list. */
export type RunItem = RunSummary & Partial<Pick<RunObject, RunList>>;

/** Columns that a list needs. */
type Row = TerminalEventRow & Scope & { expires_at_ms: number | null; summary: string | null };

type Rest = () => Promise<void>;

interface RunItemOptions {
  journal: Journal;
  briefOf: TerminalEventCache;
  /** Queue position; null if the run is not queued. */
  placeOf: (row: Row) => number | null;
}

/** Builds list items of runs; null for a deleted run. */
export function createRunItems({ journal, briefOf, placeOf }: RunItemOptions) {
  async function summary(row: Row, yieldTurn: Rest): Promise<RunItem | null> {
    if (row.summary !== null) return runSummary(runOfSummary(row.summary), []);
    const brief = await briefOf(row, yieldTurn);
    if (!brief) return null;
    const run = runObject(brief.state, row.expires_at_ms, placeOf(row));
    return runSummary(run, journal.lastCalls(row.id), brief.shortened);
  }

  /** Returns the whole run if it fits on a page; else its first messages and calls, with `truncated`. */
  async function withMessages(row: Row, rest: Rest): Promise<RunItem | null> {
    if (row.summary !== null) return { ...runSummary(runOfSummary(row.summary), []), messages: [], tool_calls: [] };
    if (!journal.has(row.id, 1)) return null;
    const state = await foldInSlices(entriesOf(row.id), rest);
    if (!journal.has(row.id, state.seq)) return null; // It may have been deleted meanwhile.
    const bare = runObject({ ...state, messages: [], calls: [] }, row.expires_at_ms, placeOf(row));
    const last_calls = journal.lastCalls(row.id);
    const isLong = byteLength(JSON.stringify(bare)) > pageRoom / 2;
    const head: RunItem = isLong ? runSummary(bare, last_calls) : { ...bare, last_calls };
    let bytes = byteLength(JSON.stringify(head)) + 100;
    const truncated = head.truncated ?? [];

    async function first<From, To>(name: string, all: readonly From[], show: (one: From) => To): Promise<To[]> {
      const shown: To[] = [];
      for (const one of all) {
        const object = show(one);
        bytes += byteLength(JSON.stringify(object)) + 1;
        if (bytes > pageRoom) {
          truncated.push(name);
          break;
        }
        shown.push(object);
        await rest();
      }
      return shown;
    }

    const callOf = callsById(state.calls);
    const messages = await first("messages", state.messages, (one) => messageObject(one, callOf));
    const tool_calls = await first("tool_calls", state.calls, toolCallObject);
    return { ...head, messages, tool_calls, ...(truncated.length > 0 && { truncated }) };
  }

  const entriesOf = (id: string): Iterable<JournalEntry> =>
    readRows(
      (after: number, most) => journal.read(id, after, most),
      0,
      ({ seq }) => seq,
    );

  return { summary, withMessages };
}
