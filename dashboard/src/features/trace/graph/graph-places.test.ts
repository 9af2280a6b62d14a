import { expect, test } from "bun:test";
import { nodeBeside, nodeSize, placesOf } from "./graph-places.ts";
import type { GraphEdge, GraphNode } from "./run-graph.ts";

const node = (id: string): GraphNode => ({
  id,
  kind: "tool",
  name: id,
  calls: 1,
  failed: 0,
  isRunning: false,
  worked_ms: null,
  cost_usd: null,
});
const edge = (from: string, to: string): GraphEdge => ({ from, to, calls: 1, failed: 0 });
const places = (ids: string[], pairs: [string, string][]) =>
  placesOf({ nodes: ids.map(node), edges: pairs.map(([from, to]) => edge(from, to)) });

test("callers are left of their callees, and nodes do not overlap", () => {
  const { nodes, width, height } = places(
    ["run", "a", "b", "c", "d"],
    [
      ["run", "a"],
      ["run", "b"],
      ["a", "c"],
      ["b", "d"],
    ],
  );
  const layers = Object.fromEntries(nodes.map(({ id, layer }) => [id, layer]));
  expect(layers).toEqual({ run: 0, a: 1, b: 1, c: 2, d: 2 });
  for (const one of nodes) {
    expect(one.x + nodeSize.width).toBeLessThan(width);
    expect(one.y + nodeSize.height).toBeLessThan(height);
    for (const other of nodes)
      if (one !== other && one.layer === other.layer)
        expect(Math.abs(one.y - other.y)).toBeGreaterThanOrEqual(nodeSize.height);
  }
});

test("a column is ordered by its callers, so that lines do not cross", () => {
  const { nodes } = places(
    ["run", "a", "b", "of b", "of a"],
    [
      ["run", "a"],
      ["run", "b"],
      ["b", "of b"],
      ["a", "of a"],
    ],
  );
  expect(nodes.map(({ id }) => id)).toEqual(["run", "a", "b", "of a", "of b"]);
});

test("agents that call each other or themselves are drawn once", () => {
  const { nodes, edges } = places(
    ["run", "a", "b"],
    [
      ["run", "a"],
      ["a", "b"],
      ["b", "a"],
      ["b", "b"],
    ],
  );
  expect(nodes.map(({ id }) => id)).toEqual(["run", "a", "b"]);
  expect(new Set(edges.map(({ path }) => path)).size).toBe(4);
});

test("a hundred agents that all call each other and thousands of tools are placed without overlap", () => {
  const agents = Array.from({ length: 100 }, (_, i) => `agent ${i}`);
  const tools = Array.from({ length: 5000 }, (_, i) => `tool ${i}`);
  const { nodes, edges } = places(
    ["run", ...agents, ...tools],
    [
      ...agents.map((agent): [string, string] => ["run", agent]),
      ...agents.flatMap((from) => agents.map((to): [string, string] => [from, to])),
      ...tools.map((tool, i): [string, string] => [agents[i % 100]!, tool]),
    ],
  );
  expect(nodes.map(({ layer }) => layer).filter((layer) => layer === 2)).toHaveLength(5000);
  expect(new Set(nodes.map(({ x, y }) => `${x} ${y}`)).size).toBe(nodes.length);
  expect(edges).toHaveLength(100 + 10_000 + 5000);
});

test("a run without calls has one node", () => {
  expect(places(["run"], [])).toMatchObject({ nodes: [{ id: "run", layer: 0 }], edges: [] });
});

test("arrow keys move along the lines and within a column", () => {
  const graph = places(
    ["run", "a", "b", "c"],
    [
      ["run", "a"],
      ["run", "b"],
      ["b", "c"],
    ],
  );
  const way = (from: string, ...keys: string[]) =>
    keys.reduce<string | undefined>((id, key) => id && nodeBeside(graph, id, key), from);
  expect(way("run", "ArrowRight")).toBe("a");
  expect(way("run", "ArrowRight", "ArrowDown", "ArrowRight")).toBe("c");
  expect(way("c", "ArrowLeft", "ArrowUp")).toBe("a");
  expect(way("a", "ArrowUp")).toBeUndefined();
  expect(way("a", "ArrowRight")).toBeUndefined();
  expect(way("a", "End", "Home")).toBe("run");
});
