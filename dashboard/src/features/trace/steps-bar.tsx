import { type LucideIcon, Scan, Search, TriangleAlert, Workflow, ZoomIn, ZoomOut } from "lucide-react";
import type { RefObject } from "react";
import { formatCount, plural } from "../../lib/format.ts";
import { Button } from "../../ui/forms/button.tsx";
import type { Zoom } from "./use-zoom.ts";

/** Bar above the tree: search, next problem, folding of waits. */
export function StepsBar({
  sought,
  onSought,
  found,
  problems,
  onProblem,
  folded,
  onFolded,
  graph,
  onGraph,
  input,
  zoom,
}: {
  sought: string;
  onSought: (text: string) => void;
  /** Number of matching steps; null without a search. */
  found: number | null;
  problems: number;
  onProblem: () => void;
  folded: boolean;
  onFolded: (folded: boolean) => void;
  /** True if the graph is shown. */
  graph: boolean;
  onGraph: (graph: boolean) => void;
  input: RefObject<HTMLInputElement | null>;
  zoom: Zoom;
}) {
  return (
    <div className="flex min-h-11 shrink-0 flex-wrap items-center gap-x-2 gap-y-1 border-b border-line py-1 pr-4 pl-4 rail:pr-3 rail:pl-5">
      <div className="relative min-w-0 flex-1 basis-24 rail:max-w-52 rail:basis-28">
        <Search
          aria-hidden
          className="pointer-events-none absolute top-1/2 left-2 size-4 -translate-y-1/2 text-muted"
          strokeWidth={1.5}
        />
        <input
          ref={input}
          type="search"
          aria-label="Find in steps"
          placeholder="Find in steps"
          value={sought}
          onChange={(event) => onSought(event.target.value)}
          onKeyDown={(event) => event.key === "Escape" && onSought("")}
          className="h-(--control-sm) w-full rounded-md border border-line-control bg-surface pr-2 pl-8 text-sm hover:border-muted"
        />
      </div>
      {found !== null && (
        <span role="status" className="text-xs whitespace-nowrap text-muted">
          {formatCount(found)} found
        </span>
      )}
      {problems > 0 && (
        <Button
          size="sm"
          className="rounded-full! border-dashed text-bad!"
          onClick={onProblem}
          title="Go to the next problem (n)"
        >
          <TriangleAlert aria-hidden className="size-3.5" strokeWidth={1.5} />
          {plural(problems, "problem")}
        </Button>
      )}
      <Button
        kind="ghost"
        size="sm"
        className="ml-auto aria-pressed:bg-accent-soft aria-pressed:text-accent"
        aria-pressed={graph}
        title="Graph of agents and tools"
        onClick={() => onGraph(!graph)}
      >
        <Workflow aria-hidden className="size-4" strokeWidth={1.5} />
        <span className="max-rail:sr-only">Graph</span>
      </Button>
      <fieldset aria-label="Zoom" className="flex max-rail:hidden">
        {zoom.isZoomed && <ZoomButton word="Show the whole run" keys="0" icon={Scan} onClick={zoom.whole} />}
        <ZoomButton word="Zoom out" keys="-" icon={ZoomOut} off={!zoom.isZoomed} onClick={zoom.farther} />
        <ZoomButton word="Zoom in" keys="+" icon={ZoomIn} onClick={zoom.nearer} />
      </fieldset>
      <label className="flex shrink-0 cursor-pointer items-center gap-1.5 text-xs whitespace-nowrap">
        <input type="checkbox" checked={folded} onChange={(event) => onFolded(event.target.checked)} />
        Fold waiting
      </label>
    </div>
  );
}

function ZoomButton({
  word,
  keys,
  icon: Icon,
  off = false,
  onClick,
}: {
  word: string;
  keys: string;
  icon: LucideIcon;
  off?: boolean;
  onClick: () => void;
}) {
  return (
    <Button kind="ghost" size="icon-sm" aria-label={word} title={`${word} (${keys})`} disabled={off} onClick={onClick}>
      <Icon aria-hidden className="size-4" strokeWidth={1.5} />
    </Button>
  );
}
