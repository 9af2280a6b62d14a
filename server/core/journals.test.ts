import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import type { JournalEntry } from "./run-event.ts";
import { apply, fold, initialState, isOver } from "./run-state.ts";
import { traceOf } from "./trace.ts";

// Journals as earlier versions wrote them. Neither these files nor what they fold to may ever change: customers have
// millions like them. A state may gain fields, as events may.
const corpus = `${import.meta.dir}/__fixtures__/journals/v1`;
const names = readdirSync(corpus).flatMap((file) => (file.endsWith(".jsonl") ? [file.slice(0, -".jsonl".length)] : []));

const read = (name: string): JournalEntry[] =>
  readFileSync(`${corpus}/${name}.jsonl`, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

test("there are journals of every kind of run", () => {
  expect(names.length).toBeGreaterThanOrEqual(8);
  const types = new Set(names.flatMap((name) => read(name).map(({ event }) => event.type)));
  expect([...types].sort()).toEqual([
    "run.cancelled",
    "run.completed",
    "run.created",
    "run.failed",
    "run.queued",
    "run.recovered",
    "run.requires_action",
    "run.resumed",
    "run.started",
    "step.completed",
    "step.restarted",
    "step.started",
    "tool.completed",
    "tool.decided",
    "tool.requested",
  ]);
});

test.each(names)("%s folds to the state that it always folded to", (name) => {
  const state = fold(read(name));
  expect(JSON.parse(JSON.stringify(state))).toMatchObject(
    JSON.parse(readFileSync(`${corpus}/${name}.state.json`, "utf8")),
  );
  expect(isOver(state.status)).toBe(true);
  expect(traceOf(read(name)).state).toEqual(state);
});

test.each(names)("%s can be read up to any of its entries, and has a trace there", (name) => {
  const entries = read(name);
  entries.reduce((state, entry, index) => {
    const next = apply(state, entry);
    expect(traceOf(entries.slice(0, index + 1)).state).toEqual(next);
    return next;
  }, initialState);
});
