import { expect, test } from "bun:test";
import fc from "fast-check";
import { firstIdAt, forgetLastId, idPattern, isId, newId, siblingId, timeOf } from "./ids.ts";

test("ids of one millisecond are all different and sort in the order in which they were made", () => {
  const ids = Array.from({ length: 10_000 }, () => newId("run", 1_700_000_000_000));
  expect(new Set(ids).size).toBe(ids.length);
  expect([...ids].sort()).toEqual(ids);
});

test("ids sort by the time of their creation, and in the order in which they were made when the clock is set back", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1_700_000_000_000, max: 1_900_000_000_000 }), { minLength: 2 }), (times) => {
      const ids = times.map((time) => newId("run", time));
      expect([...ids].sort()).toEqual(ids);
    }),
  );
});

test("an id has the form that its pattern asks for, and no other form is taken for one", () => {
  const id = newId("tool_call");
  expect(id).toMatch(new RegExp(idPattern("tool_call")));
  expect(isId("tool_call", id)).toBe(true);
  for (const other of ["", "call_", id.slice(1), `${id}0`, id.toUpperCase(), id.replace("call_", "run_"), `${id}\n`])
    expect(isId("tool_call", other)).toBe(false);
  for (const letter of "ilou") expect(isId("run", `run_${letter.repeat(26)}`)).toBe(false);
});

test("a run's trace has the run's own digits", () => {
  const run = newId("run");
  expect(siblingId(run, "trace")).toBe(run.replace("run_", "trc_"));
  expect(isId("trace", siblingId(run, "trace"))).toBe(true);
});

test("an id contains its creation time, and sorts by it", () => {
  forgetLastId();
  const at = 1_900_000_000_000;
  const id = newId("request", at);
  expect(timeOf(id)).toBe(at);
  expect(isId("run", firstIdAt("run", at))).toBe(true);
  const run = siblingId(id, "run");
  expect(firstIdAt("run", at) <= run && run < firstIdAt("run", at + 1)).toBe(true);
});
