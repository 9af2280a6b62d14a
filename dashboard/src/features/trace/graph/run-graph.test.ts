import { expect, test } from "bun:test";
import type { TraceStep } from "../../../../../server/domain/api-types/trace.ts";
import { noUsage } from "../../../../../server/domain/usage.ts";
import type { LoadedTrace } from "../../../entities/run/trace-api.ts";
import { rowsOf } from "../rows.ts";
import { stepOf, traceOf } from "../trace-fixtures.ts";
import { graphOf } from "./run-graph.ts";

const ofRun = (run_id: string, steps: TraceStep[]): LoadedTrace => ({
  trace: traceOf({ run_id }),
  steps,
  hasMore: false,
});
const model = (index: number) => stepOf(index, { type: "model_call", name: "test/script", tool_call_id: null });
const agentCall = (index: number, name: string, run_id: string) =>
  stepOf(index, { type: "subagent", name, subagent: { run_id, agent_id: `agt_${name}` } });
const failed = { status: "failed", error: { code: "tool_failed", message: "No." } } as const;

const root = ofRun("run_1", [
  model(0),
  stepOf(1, { latency_ms: 200 }),
  stepOf(2, { latency_ms: 300, ...failed }),
  { ...agentCall(3, "writer", "run_2"), usage: { ...noUsage, cost_usd: 0.25, estimated: false } },
  stepOf(4, { type: "guardrail", name: "pii" }),
]);
const writer = ofRun("run_2", [model(0), stepOf(1), stepOf(2, { name: "draft" })]);

const graph = (open: string[], children: LoadedTrace[] = []) => {
  const below = new Map(children.map((child) => [child.trace.run_id, child]));
  const rows = rowsOf({ root, name: "Desk", children: below, open: new Set(["run", ...open]) });
  return { rows, ...graphOf(rows, { worked_ms: 900, cost_usd: 1 }) };
};

test("calls of one tool are one node with count, failures and total duration", () => {
  const { nodes } = graph([]);
  expect(nodes.map(({ id }) => id)).toEqual(["run", "tool:look", "agent:writer"]);
  expect(nodes[1]).toMatchObject({ kind: "tool", name: "look", calls: 2, failed: 1, worked_ms: 500, cost_usd: null });
  expect(nodes[2]).toMatchObject({ kind: "agent", calls: 1, failed: 0, cost_usd: 0.25 });
  expect(nodes[0]).toMatchObject({ kind: "agent", name: "Desk", calls: 1, worked_ms: 900, cost_usd: 1 });
});

test("an agent's total cost is unknown if the cost of one call is", () => {
  const priced = (cost_usd: number | null) => ({ ...noUsage, cost_usd, estimated: false });
  const steps = [
    { ...agentCall(3, "writer", "run_2"), usage: priced(0.25) },
    { ...agentCall(4, "writer", "run_3"), usage: priced(null) },
  ];
  const rows = rowsOf({ root: ofRun("run_1", steps), name: "Desk", children: new Map(), open: new Set(["run"]) });
  const { nodes } = graphOf(rows, { worked_ms: 900, cost_usd: null });
  expect(nodes.find(({ id }) => id === "agent:writer")).toMatchObject({ calls: 2, cost_usd: null });
});

test("a tool that two agents call is one node with a line from each", () => {
  const { nodes, edges } = graph(["3"], [writer]);
  expect(nodes.find(({ id }) => id === "tool:look")!.calls).toBe(3);
  expect(edges).toEqual([
    { from: "run", to: "tool:look", calls: 2, failed: 1 },
    { from: "run", to: "agent:writer", calls: 1, failed: 0 },
    { from: "agent:writer", to: "tool:look", calls: 1, failed: 0 },
    { from: "agent:writer", to: "tool:draft", calls: 1, failed: 0 },
  ]);
});

test("every row belongs to the node that did its work", () => {
  const { rows, nodeOf } = graph(["3"], [writer]);
  expect(rows.map(({ key }) => [key, nodeOf.get(key)])).toEqual([
    ["run", "run"],
    ["0", "run"],
    ["1", "tool:look"],
    ["2", "tool:look"],
    ["3", "agent:writer"],
    ["3-0", "agent:writer"],
    ["3-1", "tool:look"],
    ["3-2", "tool:draft"],
    ["4", "run"],
  ]);
});

test("after a handoff the calls are the next agent's, and the way back leads to the run's own agent", () => {
  const handoff = (index: number, from_agent_id: string, agent_id: string, agent_name: string) =>
    stepOf(index, {
      type: "handoff",
      name: `transfer_to_${agent_name}`,
      handoff: { from_agent_id, agent_id, agent_name },
    });
  const steps = [
    model(0),
    handoff(1, "agt_1", "agt_2", "Refunds"),
    stepOf(2),
    handoff(3, "agt_2", "agt_1", "Desk"),
    stepOf(4, { name: "mail" }),
  ];
  const rows = rowsOf({ root: ofRun("run_1", steps), name: "Desk", children: new Map(), open: new Set(["run"]) });
  const { nodes, edges } = graphOf(rows, { worked_ms: 900, cost_usd: 1 });
  expect(nodes.map(({ id, name }) => [id, name])).toEqual([
    ["run", "Desk"],
    ["agent:Refunds", "Refunds"],
    ["tool:look", "look"],
    ["tool:mail", "mail"],
  ]);
  expect(nodes[1]).toMatchObject({ worked_ms: 1000 });
  expect(edges).toEqual([
    { from: "run", to: "agent:Refunds", calls: 1, failed: 0, isHandoff: true },
    { from: "agent:Refunds", to: "tool:look", calls: 1, failed: 0 },
    { from: "agent:Refunds", to: "run", calls: 1, failed: 0, isHandoff: true },
    { from: "run", to: "tool:mail", calls: 1, failed: 0 },
  ]);
});
