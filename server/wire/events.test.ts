import { expect, test } from "bun:test";
import { corpus } from "../core/__fixtures__/corpus.ts";
import { frameNames, frameOf } from "../core/frames.ts";
import { validateAgainst } from "../lib/json-schema.ts";
import { frames } from "./events.ts";

const sent = corpus.flatMap(({ name, entries }) => entries.map((entry) => ({ name, ...frameOf("run_1", entry) })));

test("every event is what its schema says, to the last field", () => {
  for (const { name, event, data } of sent) {
    const faults = validateAgainst({ ...frames[event], additionalProperties: false }, data);
    expect({ name, event, faults }).toEqual({ name, event, faults: [] });
  }
});

test("there is a schema for every name of an event, and an event for every name", () => {
  expect(Object.keys(frames).sort()).toEqual([...frameNames].sort());
  const unsent = frameNames.filter((name) => !sent.some(({ event }) => event === name));
  expect(unsent).toEqual(["token"]); // It stands in no journal.
});
