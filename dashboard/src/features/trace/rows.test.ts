import { describe, expect, test } from "bun:test";
import type { TraceStep } from "../../../../server/domain/api-types/trace.ts";
import type { RunErrorCode } from "../../../../server/domain/errors.ts";
import type { LoadedTrace, Trace } from "../../entities/run/trace-api.ts";
import { ancestorsOf, findSteps, firstStep, isProblem, placeRows, rowMarkWord, rowsOf } from "./rows.ts";
import { ms, stepOf, time, traceOf } from "./trace-fixtures.ts";

const loaded = (steps: TraceStep[], more: Partial<Trace> = {}): LoadedTrace => ({
  trace: traceOf(more),
  steps,
  hasMore: false,
});
const agentCall = (index: number, run_id: string) =>
  stepOf(index, { type: "subagent", name: "ask", subagent: { run_id, agent_id: "agt_2" } });
const rowsWith = (root: LoadedTrace, open: string[] = ["run"], children = new Map<string, LoadedTrace>()) =>
  rowsOf({ root, name: "Clerk", children, open: new Set(open) });

describe("rows", () => {
  test("are the run and, one level below, its steps", () => {
    const rows = rowsWith(loaded([stepOf(0), stepOf(1)]));
    expect(placeRows(rows).map(({ key, level, position, siblings }) => [key, level, position, siblings])).toEqual([
      ["run", 1, 1, 1],
      ["0", 2, 1, 2],
      ["1", 2, 2, 2],
    ]);
    expect(rowsWith(loaded([stepOf(0)]), [])).toHaveLength(1);
  });

  test("of a subagent's run follow its call once expanded and loaded", () => {
    const root = loaded([stepOf(0), agentCall(1, "run_2"), stepOf(2)]);
    const children = new Map([
      ["run_2", loaded([stepOf(0), agentCall(1, "run_3")], { run_id: "run_2" })],
      ["run_3", loaded([stepOf(0)], { run_id: "run_3" })],
    ]);
    expect(rowsWith(root, ["run", "1"]).map(({ key }) => key)).toEqual(["run", "0", "1", "2"]);
    const rows = rowsWith(root, ["run", "1", "1-1"], children);
    expect(rows.map(({ key, level }) => [key, level])).toEqual([
      ["run", 1],
      ["0", 2],
      ["1", 2],
      ["1-0", 3],
      ["1-1", 3],
      ["1-1-0", 4],
      ["2", 2],
    ]);
    expect(rows.find(({ key }) => key === "1-1-0")).toMatchObject({ parent: "1-1", runId: "run_3" });
  });

  test("of a restart are inserted at its time", () => {
    const recoveries = [{ attempt: 2, at: time(1500), step_index: 1 }];
    const rows = rowsWith(loaded([stepOf(0), stepOf(1), stepOf(2)], { recoveries }));
    expect(rows.map(({ key }) => key)).toEqual(["run", "0", "1", "r2", "2"]);
  });

  test("mark only problems and running steps", () => {
    const steps = [
      stepOf(0),
      stepOf(1, { status: "failed", error: { code: "http_error", message: "503" } }),
      stepOf(2, { status: "in_progress", completed_at: null }),
      stepOf(3, { type: "guardrail", output: { verdict: "redacted" } }),
    ];
    const rows = rowsWith(loaded(steps, { completed_at: null, status: "in_progress" })).slice(1);
    expect(rows.map(({ mark }) => mark)).toEqual([null, "failed", "running", "flagged"]);
    expect(rows.filter(isProblem).map(({ key }) => key)).toEqual(["1"]);
    expect(rows[2]?.end).toBeNull();
  });

  test("that were unfinished when the run ended end with it", () => {
    const rows = rowsWith(loaded([stepOf(0, { status: "cancelled", completed_at: null })], { status: "cancelled" }));
    expect(rows[1]?.end).toBe(ms(10_000));
  });

  test("start with the steps that a fork took over", () => {
    const rows = rowsWith(loaded([stepOf(0)], { started_at: time(60_000) }));
    expect(rows[0]?.start).toBe(ms(0));
  });
});

describe("the page opens on", () => {
  const error = {
    type: "run_error" as const,
    code: "model_error" as const,
    message: "",
    step_index: 2,
    retryable: false,
  };
  const rows = rowsWith(
    loaded([
      stepOf(0),
      stepOf(1, { status: "failed" }),
      stepOf(2, { status: "failed" }),
      stepOf(3, { status: "waiting", completed_at: null }),
    ]),
  );

  test("the step that failed the run, otherwise the run with its error", () => {
    const opensOn = (more: { code?: RunErrorCode; step_index?: number | null }) =>
      firstStep(rows, { status: "failed", error: { ...error, ...more }, required_action: null });
    expect(opensOn({})).toBe("2");
    expect(opensOn({ step_index: null })).toBe("run");
    expect(opensOn({ code: "run_timeout" })).toBe("run");
  });

  test("the pending call", () => {
    expect(firstStep(rows, { status: "requires_action", error: null, required_action: null })).toBe("3");
  });

  test("the run itself if nothing is wrong", () => {
    expect(firstStep(rows, { status: "completed", error: null, required_action: null })).toBe("run");
  });
});

test("a nested step's key contains its ancestors", () => {
  expect(ancestorsOf("6-2-1")).toEqual(["6", "6-2"]);
  expect(ancestorsOf("6")).toEqual([]);
});

test("steps are found by any of their words, in any order", () => {
  const rows = rowsWith(loaded([stepOf(0, { output: { sku: "MUG-TEAL" } }), stepOf(1, { status: "failed" })]));
  expect(findSteps(rows, "teal mug").map(({ key }) => key)).toEqual(["0"]);
  expect(findSteps(rows, "failed look").map(({ key }) => key)).toEqual(["1"]);
  expect(findSteps(rows, "nothing")).toEqual([]);
});

test("after a handoff each model call names its agent, also in an agent's run below", () => {
  const model = (index: number) => stepOf(index, { type: "model_call", name: "test/script" });
  const handoff = (index: number, agent_name: string) =>
    stepOf(index, {
      type: "handoff",
      name: "transfer_to_x",
      handoff: { from_agent_id: "agt_1", agent_id: "agt_2", agent_name },
    });
  const child = loaded([model(0), handoff(1, "Lawyer"), model(2)], { run_id: "run_2" });
  const root = loaded([model(0), handoff(1, "Refunds"), model(2), agentCall(3, "run_2")]);
  const rows = rowsWith(root, ["run", "3"], new Map([["run_2", child]]));
  expect(rows.flatMap(({ name, agent }) => (agent ? [agent] : name.startsWith("To ") ? [name] : []))).toEqual([
    "Clerk",
    "To Refunds",
    "Refunds",
    "ask",
    "To Lawyer",
    "Lawyer",
  ]);
  expect(rowsWith(loaded([model(0)]))[1]?.agent).toBeUndefined();
});

test("a model call that a message ended is interrupted, and one that was cancelled is not", () => {
  const error = (code: string) => ({ code, message: "It ended." });
  const steps = [
    stepOf(0, { type: "model_call", status: "cancelled", error: error("interrupted") }),
    stepOf(1, { type: "model_call", status: "cancelled", error: error("run_cancelled") }),
  ];
  expect(rowsWith(loaded(steps)).slice(1).map(rowMarkWord)).toEqual(["Interrupted", "Cancelled"]);
});
