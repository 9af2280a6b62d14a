import { expect, test } from "bun:test";
import { newId } from "../../domain/ids.ts";
import type { JournalEntry, RunEvent } from "../../domain/run-event.ts";
import { type RunObject, runObject } from "../../domain/run-object.ts";
import { fold, isOver } from "../../domain/run-state.ts";
import { runSummary, stripLength, stripTypes } from "../../domain/run-summary.ts";
import { traceOf } from "../../domain/trace.ts";
import { traceHead } from "../../resources/traces/trace-summary.ts";
import { createRunProjection } from "../../runs/run-projection.ts";
import { corpus } from "../../testing/corpus.ts";
import { openDatabase } from "../db/open.ts";
import { Journal } from "./journal.ts";
import { createTerminalEventCache, type TerminalEventCache } from "./terminal-event-cache.ts";

const rest = async () => {};
const long = "\u00e9\n\u{1f600}x".repeat(20_000);

/** Returns the same run with long values wherever it may have them. */
const grown = (event: RunEvent): RunEvent => {
  switch (event.type) {
    case "run.created":
      return {
        ...event,
        input: `${event.input} ${long}`,
        ...(event.earlier && { earlier: event.earlier.map((one) => ({ ...one, content: long })) }),
      };
    case "run.completed":
      return { ...event, output: `${event.output} ${long}`, output_json: { long } };
    case "run.requires_action": {
      const { tool_calls } = event.required_action.submit_tool_outputs;
      const longer = tool_calls.map((call) => ({ ...call, arguments: { long } }));
      return { ...event, required_action: { ...event.required_action, submit_tool_outputs: { tool_calls: longer } } };
    }
    case "step.completed":
      return { ...event, answer: event.answer && { ...event.answer, parts: [...event.answer.parts, words] } };
    case "tool.requested":
      return { ...event, call: { ...event.call, arguments: { ...event.call.arguments, long } } };
    case "tool.completed":
      return { ...event, output: long };
    case "handoff.completed":
      return { ...event, input: `Masked ${long}` };
    default:
      return event;
  }
};
const words = { type: "text", text: long } as const;

const summaryOf = (run: RunObject, shortened: readonly string[] = []) => {
  const { truncated = [], ...summary } = runSummary(run, [], shortened);
  return { ...summary, truncated: truncated.toSorted() };
};

/** Yields the entries that are written together. */
function* commitsOf(entries: readonly JournalEntry[]) {
  const [{ event }] = entries as [JournalEntry];
  const first = event.type === "run.created" ? Math.max(event.recorded_to ?? 1, event.queued ? 2 : 1) : 1;
  yield entries.slice(0, first);
  for (const entry of entries.slice(first)) yield [entry];
}

const cases = corpus.flatMap((one) => [
  { name: one.name, entries: one.entries },
  { name: `${one.name}, grown`, entries: one.entries.map((entry) => ({ ...entry, event: grown(entry.event) })) },
]);

function journalAt(now: () => number) {
  const db = openDatabase(":memory:");
  const scope = { project_id: newId("project"), environment: "test" } as const;
  db.sqlite.query("INSERT INTO projects (id, name, created_at_ms) VALUES (?, 'p', 0)").run(scope.project_id);
  const journal = new Journal({ db, project: createRunProjection(db.sqlite), wake: () => {}, now });
  const rowOf = db.sqlite.query<Parameters<TerminalEventCache>[0], [string]>("SELECT * FROM runs WHERE id = ?");
  return { journal, scope, rowOf, [Symbol.dispose]: () => db.close() };
}

test.each(cases)(
  "a list shows of a run, at each of its entries, the same as the run itself: $name",
  async ({ entries }) => {
    let at = 0;
    using fixture = journalAt(() => at);
    const { journal, scope, rowOf } = fixture;
    const [briefOf, id] = [createTerminalEventCache(journal), newId("run")];
    for (const commit of commitsOf(entries)) {
      const own = commit.map(({ event, at }) => ({
        at,
        event: event.type === "run.created" ? { ...event, ...scope, run_id: id } : event,
      }));
      at = commit.at(-1)!.at;
      if (commit[0]!.seq === 1) await journal.commit(id, () => journal.insertRecord(id, own));
      else {
        const events = own.map(({ event }) => event);
        await journal.append(id, events);
      }
      const whole = journal.read(id);
      const expected = fold(whole);
      // One cache that has read the earlier entries, and one that reads them for the first time.
      for (const reader of [briefOf, createTerminalEventCache(journal)]) {
        const { state, shortened } = (await reader(rowOf.get(id)!, rest))!;
        expect(summaryOf(runObject(state, 0), shortened)).toEqual(summaryOf(runObject(expected, 0)));
        expect(traceHead({ ...scope, id }, state)).toEqual(traceHead({ ...scope, id }, expected));
      }
      const calls = traceOf(entries).steps.flatMap(({ type }) =>
        (stripTypes as readonly string[]).includes(type) ? [type] : [],
      );
      if (!isOver(expected.status)) continue;
      expect(journal.lastCalls(id) as string[]).toEqual(calls.slice(-stripLength));
      expect(journal.count(id, ["step.started", "guardrail.decided"])).toBe(traceOf(whole).steps.length);
    }
  },
);
