import { expect, test } from "bun:test";
import { corpus } from "../core/__fixtures__/corpus.ts";
import { validateAgainst } from "../lib/json-schema.ts";
import { frames } from "./events.ts";
import { frameOf } from "./frames.ts";
import { frameNames } from "./names.ts";

const sent = corpus.flatMap(({ name, entries }) => entries.map((entry) => ({ name, ...frameOf("run_1", entry) })));

test("every event is what its schema says, to the last field", () => {
  for (const { name, event, data } of sent) {
    const faults = validateAgainst({ ...frames[event], additionalProperties: false }, data);
    expect({ name, event, faults }).toEqual({ name, event, faults: [] });
  }
});

test("there is an event for every name", () => {
  const unsent = frameNames.filter((name) => !sent.some(({ event }) => event === name));
  expect(unsent).toEqual(["token"]); // It stands in no journal.
});
