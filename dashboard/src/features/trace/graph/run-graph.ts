import type { Row } from "../row.ts";

/** An agent, tool or memory that a run used. */
export interface GraphNode {
  /** `run` for the run's own agent, otherwise kind and name: `tool:look_up`. */
  id: string;
  kind: "agent" | "tool" | "memory";
  name: string;
  calls: number;
  /** Number of calls that failed or whose outcome is unknown. */
  failed: number;
  isRunning: boolean;
  /** Total of its calls, for an agent including its callees. Null if unknown. */
  worked_ms: number | null;
  cost_usd: number | null;
}

/** Calls from one node to another, with their number. */
export interface GraphEdge {
  from: string;
  to: string;
  calls: number;
  failed: number;
  /** True if the conversation went on there instead of coming back. */
  isHandoff?: true;
}

export interface RunGraph {
  /** In order of first call, the run's own agent first. */
  nodes: GraphNode[];
  edges: GraphEdge[];
  /** Node of each row, by row key. */
  nodeOf: ReadonlyMap<string, string>;
}

const kinds: Record<string, GraphNode["kind"] | undefined> = {
  tool_call: "tool",
  subagent: "agent",
  retrieval: "memory",
};

/** Builds the graph of the loaded rows. `whole` are the figures of the run itself. */
export function graphOf(rows: readonly Row[], whole: Pick<GraphNode, "worked_ms" | "cost_usd">): RunGraph {
  const nodes = new Map<string, GraphNode>();
  const edges = new Map<string, GraphEdge>();
  const nodeOf = new Map<string, string>();
  const agentOfRun = new Map<string, string>();
  const unpriced = new Set<GraphNode>();
  /** Nodes of the agents that answer by turns in a run, by the run and the agent's id. */
  const nodeOfAgent = new Map<string, string>();
  /** Agents that no call started: their figures are those of their steps. */
  const agentsAfterHandoff = new Set<string>();
  const calledAgents = new Set<string>();
  for (const row of rows) {
    const caller = agentOfRun.get(row.runId) ?? "run";
    const kind = row.kind === "step" ? kinds[row.type] : undefined;
    if (row.kind === "run") {
      nodes.set("run", { ...nodeFor(row, "run", "agent"), ...whole });
      count(nodes.get("run")!, row);
    }
    if (row.step?.handoff) {
      const { from_agent_id, agent_id, agent_name } = row.step.handoff;
      getOr(nodeOfAgent, `${row.runId} ${from_agent_id}`, () => caller);
      const id = getOr(nodeOfAgent, `${row.runId} ${agent_id}`, () => `agent:${agent_name}`);
      nodeOf.set(row.key, id);
      count(
        getOr(nodes, id, () => ({ ...nodeFor(row, id, "agent"), name: agent_name })),
        row,
      );
      const edge: GraphEdge = { from: caller, to: id, calls: 0, failed: 0, isHandoff: true };
      count(
        getOr(edges, `${caller} ${id} handoff`, () => edge),
        row,
      );
      agentOfRun.set(row.runId, id);
      if (id !== "run" && !calledAgents.has(id)) agentsAfterHandoff.add(id);
      continue;
    }
    const takenOver = agentsAfterHandoff.has(caller) ? nodes.get(caller) : undefined;
    if (takenOver && row.step) addFigures(takenOver, row);
    if (!kind) {
      nodeOf.set(row.key, caller); // Model calls and guardrails are the agent's own work.
      continue;
    }
    const id = `${kind}:${row.name}`;
    nodeOf.set(row.key, id);
    if (row.step?.subagent) {
      agentOfRun.set(row.step.subagent.run_id, id);
      calledAgents.add(id);
    }
    const node = getOr(nodes, id, () => nodeFor(row, id, kind));
    count(node, row);
    addFigures(node, row);
    if (row.step?.usage?.cost_usd === null) unpriced.add(node);
    const edge = { from: caller, to: id, calls: 0, failed: 0 };
    count(
      getOr(edges, `${caller} ${id}`, () => edge),
      row,
    );
  }
  // A partial sum would look like the total.
  for (const node of unpriced) node.cost_usd = null;
  return { nodes: [...nodes.values()], edges: [...edges.values()], nodeOf };
}

const nodeFor = ({ name }: Row, id: string, kind: GraphNode["kind"]): GraphNode => ({
  id,
  kind,
  name,
  calls: 0,
  failed: 0,
  isRunning: false,
  worked_ms: null,
  cost_usd: null,
});

function count(of: { calls: number; failed: number; isRunning?: boolean }, { mark }: Row): void {
  of.calls++;
  if (mark === "failed" || mark === "unknown") of.failed++;
  if (mark === "running" && of.isRunning === false) of.isRunning = true;
}

function addFigures(node: GraphNode, { step }: Row): void {
  if (step?.latency_ms != null) node.worked_ms = (node.worked_ms ?? 0) + step.latency_ms;
  if (step?.usage?.cost_usd != null) node.cost_usd = (node.cost_usd ?? 0) + step.usage.cost_usd;
}

function getOr<T>(map: Map<string, T>, key: string, make: () => T): T {
  const known = map.get(key);
  if (known) return known;
  const made = make();
  map.set(key, made);
  return made;
}
