import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  answer,
  completed,
  created,
  entriesOf,
  started,
  text,
  toolDone,
  turnWithCalls,
} from "./__fixtures__/events.ts";
import { differencesOf, stepPairs } from "./diff.ts";
import { equalJson } from "./equal.ts";
import type { RunEvent } from "./run-event.ts";
import { type TraceStep, traceOf } from "./trace.ts";

const steps = (...events: RunEvent[]): TraceStep[] => traceOf(entriesOf(...events)).steps;
const diffSteps = (a: readonly TraceStep[], b: readonly TraceStep[]) => [...stepPairs(a, b)];
const saying = (...texts: string[]): TraceStep[] =>
  steps(
    created(),
    ...texts.flatMap((said, index) => [
      started(index, { turn_index: index }),
      completed(index, { answer: answer([text(said)]) }),
    ]),
  );

test("a trace does not differ from itself, step by step", () => {
  const trace = steps(created(), ...turnWithCalls(["call_a", null]).slice(1), ...toolDone("call_a", 1));
  expect(
    diffSteps(trace, trace).map(({ change, a_step_index, b_step_index }) => [change, a_step_index, b_step_index]),
  ).toEqual([
    ["equal", 0, 0],
    ["equal", 1, 1],
  ]);
});

test("ids, times and cost are no differences", () => {
  const trace = saying("Hello");
  const other = trace.map((step) => ({
    ...step,
    id: "stp_other",
    started_at: "2030-01-01T00:00:00.000Z",
    latency_ms: 9,
    usage: null,
    input: { earlier_messages: 0, messages: [{ id: "msg_other", role: "user", content: "Hello", created_at: "2030" }] },
  }));
  expect(diffSteps(trace, other)).toMatchObject([{ change: "equal", differences: [] }]);
});

test("a difference is named by its path", () => {
  const [pair] = diffSteps(saying("Hello"), saying("Goodbye"));
  expect(pair).toEqual({
    index: 0,
    a_step_index: 0,
    b_step_index: 0,
    type: "model_call",
    name: "test/script",
    change: "changed",
    differences: [{ path: "output.content", a: "Hello", b: "Goodbye" }],
    latency_ms: { a: 7, b: 7 },
    cost_usd: { a: 0.5, b: 0.5 },
  });
});

test("a step that only one run has is listed alone, and its neighbours keep their places", () => {
  const long = saying("one", "two", "three");
  const short = saying("one", "two");
  const changes = (a: TraceStep[], b: TraceStep[]) => diffSteps(a, b).map(({ change }) => change);
  expect(changes(long, short)).toEqual(["equal", "equal", "only_a"]);
  expect(changes(short, long)).toEqual(["equal", "equal", "only_b"]);
});

test("a call that was made in between does not shift the calls around it", () => {
  const call = (name: string, index: number): TraceStep => ({
    ...saying("x")[0]!,
    type: "tool_call",
    name,
    step_index: index,
  });
  const pairs = diffSteps([call("a", 0), call("c", 1)], [call("a", 0), call("b", 1), call("c", 2)]);
  expect(pairs.map(({ change, name }) => [change, name])).toEqual([
    ["equal", "a"],
    ["only_b", "b"],
    ["equal", "c"],
  ]);
});

/** A trace of turns, each a model call with tool calls, written as the tool's first letter and its input. */
const turns = (...written: string[]): TraceStep[] => {
  const [template] = saying("x");
  const steps = written.flatMap((calls, turn_index) => [
    { ...template!, turn_index, input_hash: null, input: null },
    ...calls.split(" ").flatMap((call) => {
      if (call === "") return [];
      return [{ ...template!, turn_index, type: "tool_call" as const, name: call[0]!, input: call, model: null }];
    }),
  ]);
  return steps.map((step, step_index) => ({ ...step, step_index }));
};
const sides = (a: TraceStep[], b: TraceStep[]) =>
  diffSteps(a, b).map(({ a_step_index, b_step_index }) => [a_step_index, b_step_index]);

test("final answers are compared with each other, even if one run took one turn more", () => {
  expect(sides(turns("look", ""), turns("look", "again", ""))).toEqual([
    ...[0, 1].map((step) => [step, step]),
    ...[2, 3].map((step) => [null, step]),
    [2, 4],
  ]);
  expect(sides(turns("a", "b", ""), turns("b", ""))).toEqual([
    ...[0, 1].map((step) => [step, null]),
    ...[2, 3, 4].map((step) => [step, step - 2]),
  ]);
});

test("a turn with other calls is compared with the one at its place", () => {
  expect(sides(turns("a", "b", ""), turns("a", "c", ""))).toEqual([
    [0, 0],
    [1, 1],
    [2, 2],
    [3, null],
    [null, 3],
    [4, 4],
  ]);
});

test("calls that are completely alike are paired by their number, wherever others are missing", () => {
  const whole = turns("l1 l1 l1");
  for (const missing of [[1, 3], [1, 2], [2, 3], [2]]) {
    const rest = whole.filter(({ step_index }) => !missing.includes(step_index));
    const expected = whole.map(({ step_index: at }) => [at, missing.includes(at) ? null : at]);
    expect(sides(whole, rest)).toEqual(expected);
    expect(sides(rest, whole)).toEqual(expected.map(([a, b]) => [b!, a!]));
  }
});

test("calls of the same tool with the same input are paired", () => {
  expect(sides(turns("l1 l2 l3"), turns("l2 l4"))).toEqual([
    [0, 0],
    [1, null],
    [2, 1],
    [3, 2],
  ]);
});

test("identical calls are paired by their number, though others are missing", () => {
  const all = turns("l l l");
  expect(sides(all, [all[0]!, all[2]!])).toEqual([
    [0, 0],
    [1, null],
    [2, 2],
    [3, null],
  ]);
});

const someTurns = fc.array(
  fc.array(fc.constantFrom("a1", "a2", "b1", "c1"), { maxLength: 4 }).map((calls) => calls.join(" ")),
  { minLength: 1, maxLength: 6 },
);

test("every step of both runs is in the comparison once, in order, and beside one of its kind", () => {
  fc.assert(
    fc.property(someTurns, someTurns, (one, other) => {
      const [a, b] = [turns(...one), turns(...other)];
      const pairs = sides(a, b);
      const column = (side: 0 | 1) => pairs.flatMap((pair) => pair[side] ?? []);
      expect(column(0)).toEqual(a.map(({ step_index }) => step_index));
      expect(column(1)).toEqual(b.map(({ step_index }) => step_index));
      for (const [left, right] of pairs)
        if (left !== null && right !== null) expect(a[left!]!.name).toBe(b[right!]!.name);
      expect(sides(a, a)).toEqual(a.map(({ step_index }) => [step_index, step_index]));
    }),
  );
});

test("calls of another model are compared all the same", () => {
  const other = saying("Hello").map((step) => ({ ...step, name: "test/echo", model: "test/echo" }));
  expect(diffSteps(saying("Hello"), other)).toMatchObject([
    { change: "changed", differences: [{ path: "model", a: "test/script", b: "test/echo" }] },
  ]);
});

test("two values differ exactly when they are not equal", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
      expect(differencesOf(a, b).length === 0).toBe(equalJson(a, b));
      expect(differencesOf(a, a)).toEqual([]);
    }),
  );
});

test("tool input and output are compared unchanged, including ids", () => {
  const gave = (output: unknown) => saying("x").map((step) => ({ ...step, type: "tool_call" as const, output }));
  expect(diffSteps(gave({ messages: [{ id: 1 }] }), gave({ messages: [{ id: 2 }] }))).toMatchObject([
    { differences: [{ path: "output.messages[0].id", a: 1, b: 2 }] },
  ]);
  expect(diffSteps(gave({ messages: "a" }), gave({ messages: "b" }))).toMatchObject([
    { differences: [{ path: "output.messages" }] },
  ]);
});

test("an answer that was broken off is not the same as one that was finished", () => {
  const broken = saying("Hello").map((step) => ({ ...step, finish_reason: "length" as const }));
  expect(diffSteps(saying("Hello"), broken)).toMatchObject([
    { change: "changed", differences: [{ path: "finish_reason", a: "stop", b: "length" }] },
  ]);
});

test("the number of differences is limited", () => {
  const fields = (value: number) => Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`f${i}`, value]));
  expect(differencesOf(fields(1), fields(2))).toHaveLength(100);
});

test("a long text is shown by its beginning", () => {
  const [difference] = differencesOf("x".repeat(10_000), "y");
  const a = difference!.a as string;
  expect(a.length).toBeLessThan(5000);
  expect(a).toEndWith("… (10000 characters)");
});

test("two traces of 5,000 steps, all different, are compared", () => {
  const long = (word: string) => {
    const [step] = saying(word);
    return Array.from({ length: 5000 }, (_, i) => ({ ...step!, input_hash: word, step_index: i, turn_index: i }));
  };
  expect(diffSteps(long("a"), long("b")).every(({ change }) => change === "changed")).toBe(true);
});

test("a turn with more calls than any model asks for is compared in the order of its calls", () => {
  const calls = (count: number) =>
    Array.from({ length: count }, (_, i) => ({ ...saying("x")[0]!, type: "tool_call" as const, step_index: i }));
  const pairs = diffSteps(calls(1100), calls(1101));
  expect(pairs.filter(({ change }) => change === "equal").length).toBe(1100);
  expect(pairs.at(-1)).toMatchObject({ change: "only_b", b_step_index: 1100 });
});

test("an approval answered by a record is no difference, and one that only one run required is", () => {
  const trace = steps(created(), ...turnWithCalls(["call_a", null]).slice(1), ...toolDone("call_a", 1));
  const approval = {
    decision: "approve",
    reason: null,
    edited: false,
    at: "2026-11-21T02:00:00.000Z",
    by: null,
  } as const;
  const [asked, taken] = [trace.with(1, { ...trace[1]!, approval }), trace.with(1, { ...trace[1]!, replayed: true })];
  expect(diffSteps(asked, taken).map(({ change }) => change)).toEqual(["equal", "equal"]);
  expect(diffSteps(asked, trace)[1]).toMatchObject({ change: "changed", differences: [{ path: "approval" }] });
});
