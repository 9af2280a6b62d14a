import type { GraphEdge, GraphNode, RunGraph } from "./run-graph.ts";

/** In pixels. */
export const nodeSize = { width: 176, height: 46 };
const gap = { across: 76, down: 10 };
const margin = 16;

export interface PlacedNode extends GraphNode {
  x: number;
  y: number;
  /** Number of calls between it and the run's own agent. */
  layer: number;
}

export interface PlacedEdge extends GraphEdge {
  /** SVG path data. */
  path: string;
  /** Position of the count. */
  label: Point;
}

interface Point {
  x: number;
  y: number;
}

export interface GraphPlaces {
  nodes: PlacedNode[];
  edges: PlacedEdge[];
  width: number;
  height: number;
}

/** Places nodes in columns, callers left of callees, with the callees of one agent together. */
export function placesOf({ nodes, edges }: Pick<RunGraph, "nodes" | "edges">): GraphPlaces {
  const columns = inOrder(columnsOf(nodes, edges), edges);
  const tallest = Math.max(0, ...columns.map(heightOf));
  const placed = columns.flatMap((column, layer) =>
    column.map((node, index) => ({
      ...node,
      layer,
      x: margin + layer * (nodeSize.width + gap.across),
      y: margin + (tallest - heightOf(column)) / 2 + index * (nodeSize.height + gap.down),
    })),
  );
  const byId = new Map(placed.map((node) => [node.id, node]));
  const drawn = edges.map((edge) => ({ ...edge, ...lineOf(byId.get(edge.from)!, byId.get(edge.to)!) }));
  const isBent = drawn.some(({ from, to }) => byId.get(to)!.layer <= byId.get(from)!.layer);
  const width = 2 * margin + columns.length * (nodeSize.width + gap.across) - gap.across + (isBent ? gap.across : 0);
  return { nodes: placed, edges: drawn, width, height: 2 * margin + tallest };
}

const heightOf = (column: readonly unknown[]): number => column.length * (nodeSize.height + gap.down) - gap.down;

/** Groups nodes by their shortest distance from the root, which also terminates for cycles. */
function columnsOf(nodes: readonly GraphNode[], edges: readonly GraphEdge[]): GraphNode[][] {
  const columns: GraphNode[][] = [];
  const left = new Map(nodes.map((node) => [node.id, node]));
  for (let ids: ReadonlySet<string> = new Set(["run"]); ids.size > 0; ) {
    const column = nodes.filter(({ id }) => ids.has(id) && left.delete(id));
    if (column.length > 0) columns.push(column);
    ids = new Set(edges.filter(({ from, to }) => ids.has(from) && left.has(to)).map(({ to }) => to));
  }
  return columns;
}

/** Orders each column by its callers, so that few lines cross; within one caller by first call. */
function inOrder(columns: readonly GraphNode[][], edges: readonly GraphEdge[]): GraphNode[][] {
  const calls = Map.groupBy(edges, ({ to }) => to);
  let before = new Map<string, number>();
  return columns.map((column) => {
    const placed = column.map((node) => {
      const places = (calls.get(node.id) ?? []).flatMap(({ from }) => before.get(from) ?? []);
      return { node, place: places.reduce((sum, each) => sum + each, 0) / Math.max(1, places.length) };
    });
    const ordered = placed.toSorted((a, b) => a.place - b.place).map(({ node }) => node);
    before = new Map(ordered.map(({ id }, index) => [id, index]));
    return ordered;
  });
}

/** Curve to the right. A line that leads back or stays in its column bends around the right side. */
function lineOf(from: PlacedNode, to: PlacedNode): Pick<PlacedEdge, "path" | "label"> {
  const leads = to.layer > from.layer;
  const start = { x: from.x + nodeSize.width, y: middle(from) };
  const end = leads ? { x: to.x, y: middle(to) } : { x: to.x + nodeSize.width, y: middle(to) };
  if (from === to) [start.y, end.y] = [start.y - nodeSize.height / 4, end.y + nodeSize.height / 4];
  const bend = leads ? (end.x - start.x) / 2 : gap.across / 2;
  const [a, b] = [
    { x: start.x + bend, y: start.y },
    { x: leads ? end.x - bend : end.x + bend, y: end.y },
  ];
  const path = `M${start.x} ${start.y} C${a.x} ${a.y} ${b.x} ${b.y} ${end.x} ${end.y}`;
  return { path, label: pointAt([start, a, b, end], leads ? 0.68 : 0.5) };
}

const middle = ({ y }: Point): number => y + nodeSize.height / 2;

/** Point of a cubic Bézier curve at `t` from 0 to 1. */
function pointAt([start, a, b, end]: [Point, Point, Point, Point], t: number): Point {
  const s = 1 - t;
  const of = (axis: "x" | "y") =>
    s ** 3 * start[axis] + 3 * s ** 2 * t * a[axis] + 3 * s * t ** 2 * b[axis] + t ** 3 * end[axis];
  return { x: Math.round(of("x")), y: Math.round(of("y")) };
}

/** Node that an arrow key moves to: up and down within a column, left to a caller, right to a callee. */
export function nodeBeside({ nodes, edges }: GraphPlaces, id: string, key: string): string | undefined {
  const at = nodes.findIndex((node) => node.id === id);
  const node = nodes[at];
  if (!node) return undefined;
  if (key === "Home") return nodes[0]!.id;
  if (key === "End") return nodes.at(-1)!.id;
  if (key === "ArrowUp" || key === "ArrowDown") {
    const neighbour = nodes[at + (key === "ArrowUp" ? -1 : 1)];
    return neighbour?.layer === node.layer ? neighbour.id : undefined;
  }
  const layerOf = (other: string) => nodes.find((each) => each.id === other)!.layer;
  if (key === "ArrowLeft") return edges.find(({ from, to }) => to === id && layerOf(from) < node.layer)?.from;
  if (key !== "ArrowRight") return undefined;
  const called = new Set(edges.filter(({ from, to }) => from === id && layerOf(to) > node.layer).map(({ to }) => to));
  return nodes.find((each) => called.has(each.id))?.id;
}
