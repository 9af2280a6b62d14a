import { ChartColumn, Table2, X } from "lucide-react";
import { type KeyboardEvent, type MouseEvent, useMemo, useRef, useState } from "react";
import { formatCost, formatCount, formatDuration, joinFacts, plural } from "../../../lib/format.ts";
import { NumberTable } from "../../../ui/data/number-table.tsx";
import { StepIcon } from "../../../ui/data/step-icon.tsx";
import { LiveDot } from "../../../ui/data/stream-badge.tsx";
import { Button } from "../../../ui/forms/button.tsx";
import { type GraphPlaces, nodeBeside, nodeSize, type PlacedEdge, type PlacedNode, placesOf } from "./graph-places.ts";
import type { GraphNode, RunGraph } from "./run-graph.ts";

interface GraphPanelProps {
  graph: RunGraph;
  /** Shows a table instead of the drawing. */
  asTable: boolean;
  onTable: (asTable: boolean) => void;
  /** Node that filters the steps. */
  chosen: string | undefined;
  onChoose: (id: string | undefined) => void;
  /** Number of subagent runs omitted because there are too many. */
  leftOut: number;
}

/** Graph of the agents and tools that a run used, with their calls. A node filters the steps. */
export function GraphPanel({ graph, asTable, onTable, chosen, onChoose, leftOut }: GraphPanelProps) {
  const places = useMemo(() => placesOf(graph), [graph]);
  const node = graph.nodes.find(({ id }) => id === chosen);
  const words = asTable ? "Show as graph" : "Show as table";
  const Icon = asTable ? ChartColumn : Table2;
  const choose = (id: string) => onChoose(id === chosen ? undefined : id);
  const showAll = ({ currentTarget }: MouseEvent<HTMLElement>) => {
    // This button disappears.
    currentTarget.closest("section")?.querySelector<HTMLElement>('[aria-pressed="true"]')?.focus();
    onChoose(undefined);
  };
  return (
    <section
      aria-label="Agents and tools"
      className="flex max-h-[48%] min-h-40 shrink-0 flex-col border-b border-line"
      onKeyDown={(event) => event.key === "Escape" && chosen && onChoose(undefined)}
    >
      <header className="flex min-h-9 shrink-0 items-center gap-2 pr-3 pl-4 rail:pl-5">
        <h2 className="text-xs font-medium whitespace-nowrap text-muted">Agents and tools</h2>
        {node && (
          <Button size="sm" className="min-w-0 rounded-full!" onClick={showAll}>
            <span className="cut">Steps of {node.name}</span>
            <X aria-hidden className="size-3.5 shrink-0" strokeWidth={1.5} />
            <span className="sr-only">: show all steps</span>
          </Button>
        )}
        <Button
          kind="ghost"
          size="icon-sm"
          className="ml-auto"
          aria-label={words}
          title={words}
          onClick={() => onTable(!asTable)}
        >
          <Icon aria-hidden className="size-4" strokeWidth={1.5} />
        </Button>
      </header>
      <div className="relative min-h-0 flex-1 overflow-auto">
        {asTable ? (
          <GraphTable graph={graph} chosen={chosen} onChoose={choose} />
        ) : (
          <Drawing places={places} chosen={chosen} onChoose={choose} />
        )}
      </div>
      {leftOut > 0 && (
        <p className="shrink-0 px-4 py-1.5 text-xs text-muted rail:px-5">
          What {plural(leftOut, "more agent run")} called is not counted. Open them in the steps to add it.
        </p>
      )}
    </section>
  );
}

interface ChoiceProps {
  chosen: string | undefined;
  onChoose: (id: string) => void;
}

/** One tab stop: arrow keys move between nodes. */
function Drawing({ places, chosen, onChoose }: ChoiceProps & { places: GraphPlaces }) {
  const { nodes, edges, width, height } = places;
  const [stop, setStop] = useState("run");
  const drawing = useRef<HTMLFieldSetElement>(null);
  const stopId = nodes.some(({ id }) => id === stop) ? stop : "run";
  const onKeyDown = (event: KeyboardEvent) => {
    const next = nodeBeside(places, stopId, event.key);
    if (next === undefined) return;
    event.preventDefault();
    setStop(next);
    drawing.current?.querySelector<HTMLElement>(`[data-node="${CSS.escape(next)}"]`)?.focus();
  };
  return (
    <fieldset
      ref={drawing}
      aria-label="Graph: choose one to see its steps"
      className="relative m-auto"
      style={{ width, height }}
      onKeyDown={onKeyDown}
    >
      <svg aria-hidden width={width} height={height} className="absolute inset-0">
        {edges.map((edge) => (
          <Line
            key={`${edge.from} ${edge.to} ${edge.isHandoff}`}
            edge={edge}
            lit={edge.from === chosen || edge.to === chosen}
          />
        ))}
      </svg>
      {nodes.map((node) => (
        <Node
          key={node.id}
          node={node}
          chosen={node.id === chosen}
          isStop={node.id === stopId}
          onChoose={onChoose}
          onFocus={() => setStop(node.id)}
        />
      ))}
    </fieldset>
  );
}

function Line({ edge: { path, label, calls, failed, isHandoff }, lit }: { edge: PlacedEdge; lit: boolean }) {
  return (
    <g
      data-lit={lit || undefined}
      data-failed={failed > 0 || undefined}
      data-handoff={isHandoff}
      className="graph-line"
    >
      <path d={path} strokeWidth={lineWidth(calls)} />
      <text x={label.x} y={label.y} dy="0.35em" textAnchor="middle">
        {isHandoff && "→ "}×{formatCount(calls)}
      </text>
    </g>
  );
}

/** Line width in pixels: one more per tenfold number of calls. */
const lineWidth = (calls: number): number => 1.25 + Math.min(3, Math.log10(calls));

interface NodeProps {
  node: PlacedNode;
  chosen: boolean;
  isStop: boolean;
  onChoose: (id: string) => void;
  onFocus: () => void;
}

function Node({ node, chosen, isStop, onChoose, onFocus }: NodeProps) {
  const { id, name, failed, isRunning, x, y } = node;
  return (
    <button
      type="button"
      data-node={id}
      aria-pressed={chosen}
      tabIndex={isStop ? 0 : -1}
      title={name}
      onClick={() => onChoose(id)}
      onFocus={onFocus}
      className="absolute flex min-w-0 items-center gap-2 rounded-md border border-line-button bg-surface px-2 text-left hover:bg-hover aria-pressed:border-accent aria-pressed:bg-accent-soft data-failed:border-bad-line"
      data-failed={failed > 0 || undefined}
      style={{ left: x, top: y, ...nodeSize }}
    >
      <StepIcon type={iconOf(node)} />
      <span className="min-w-0 flex-1">
        <span className="flex min-w-0 items-center gap-1 font-medium">
          <span className="sr-only">{kindWord(node)} </span>
          <span className="cut">{name}</span>
          {isRunning && <LiveDot />}
        </span>
        <span className="cut block text-2xs text-muted tabular-nums">
          {failed > 0 && <b className="text-bad">{formatCount(failed)} failed</b>}
          {failed > 0 && figuresOf(node) && " · "}
          {figuresOf(node)}
          <span className="sr-only">{id !== "run" && `, ${plural(node.calls, "call")}`}</span>
        </span>
      </span>
    </button>
  );
}

const figuresOf = ({ worked_ms, cost_usd }: GraphNode): string =>
  joinFacts(worked_ms !== null && formatDuration(worked_ms), cost_usd ? formatCost(cost_usd) : "");

const iconOf = ({ id, kind }: GraphNode): string =>
  id === "run" ? "run" : { agent: "subagent", tool: "tool_call", memory: "retrieval" }[kind];

const kindWord = ({ kind }: GraphNode): string => ({ agent: "Agent", tool: "Tool", memory: "Memory" })[kind];

const columns = ["Name", "Kind", "Called by", "Calls", "Failed", "Time", "Cost"] as const;

/** The graph as a table. */
function GraphTable({ graph: { nodes, edges }, chosen, onChoose }: ChoiceProps & { graph: RunGraph }) {
  const nameOf = new Map(nodes.map(({ id, name }) => [id, name]));
  return (
    <NumberTable
      label="Agents and tools"
      columns={columns}
      texts={3}
      rows={nodes.map((node) => ({
        key: node.id,
        cells: [
          <button
            key="name"
            type="button"
            aria-pressed={node.id === chosen}
            title={node.name}
            className="cut block max-w-full text-left text-accent hover:underline aria-pressed:font-medium"
            onClick={() => onChoose(node.id)}
          >
            {node.name}
          </button>,
          kindWord(node),
          edges
            .filter(({ to }) => to === node.id)
            .map(
              ({ from, calls, isHandoff }) =>
                `${nameOf.get(from)} ×${formatCount(calls)}${isHandoff ? " (handoff)" : ""}`,
            )
            .join(", ") || "–",
          formatCount(node.calls),
          node.failed > 0 ? (
            <b key="failed" className="text-bad">
              {formatCount(node.failed)}
            </b>
          ) : (
            "0"
          ),
          formatDuration(node.worked_ms),
          formatCost(node.cost_usd),
        ],
      }))}
    />
  );
}
