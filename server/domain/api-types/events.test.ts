import { expect, test } from "bun:test";
import { validateAgainst } from "../../lib/json-schema.ts";
import { corpus } from "../__fixtures__/corpus.ts";
import { frameNames } from "./enums.ts";
import { frames } from "./events.ts";
import { frameOf } from "./frames.ts";

const sent = corpus.flatMap(({ name, entries }) => entries.map((entry) => ({ name, ...frameOf("run_1", entry) })));

test("every event matches its schema, to the last field", () => {
  for (const { name, event, data } of sent) {
    const faults = validateAgainst({ ...frames[event], additionalProperties: false }, data);
    expect({ name, event, faults }).toEqual({ name, event, faults: [] });
  }
});

test("there is an event for every name", () => {
  const unsent = frameNames.filter((name) => !sent.some(({ event }) => event === name));
  expect(unsent).toEqual(["token"]); // It is never journaled.
});
