import { expect, test } from "bun:test";
import { corpus } from "../../domain/__fixtures__/corpus.ts";
import { eventFields } from "../../domain/run-event.ts";
import { readEvent } from "./import-event.ts";

test.each(corpus)("every entry of $name, as an earlier version wrote it, can be imported", ({ entries }) => {
  for (const { event } of entries) expect(readEvent(event)).toEqual({ event });
});

test("an entry with an additional field, or of another kind, is invalid", () => {
  const [created] = corpus[0]!.entries;
  expect(readEvent({ ...created!.event, more: 1 })).toMatchObject({ path: "more" });
  for (const [field, value] of Object.entries(created!.event)) {
    if (field === "type") continue;
    const odd = typeof value === "object" && value !== null ? "odd" : { odd: value };
    expect(readEvent({ ...created!.event, [field]: odd })).toHaveProperty("message");
  }
});

test("an unknown kind of entry is invalid, whatever its name", () => {
  for (const type of ["", "run", "__proto__", "constructor", "toString", 1, null])
    expect(readEvent({ type })).toHaveProperty("message");
  for (const given of [null, 1, "run.started", [], {}]) expect(readEvent(given)).toHaveProperty("message");
});

test("ids are words, numbers are in range, and step numbers cannot fill the memory", () => {
  const started = {
    type: "step.started",
    step_id: "stp_1",
    step_index: 0,
    step_type: "model_call",
    turn_index: 0,
    name: "test/script",
    attempt: 1,
    tool_call_id: null,
    input_hash: null,
  };
  expect(readEvent(started)).toEqual({ event: started } as never);
  const wrong = [
    { step_index: 5000 },
    { step_index: -1 },
    { step_index: 1.5 },
    { attempt: 1e300 },
    { step_id: "../../etc" },
    { step_id: "a b" },
    { tool_call_id: "x".repeat(200) },
    { step_type: "shell" },
  ];
  for (const change of wrong) expect(readEvent({ ...started, ...change })).toHaveProperty("message");
  expect(Object.keys(eventFields).length).toBe(31);
});
