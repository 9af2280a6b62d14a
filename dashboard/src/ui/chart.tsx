import { clsx } from "clsx";
import { type ReactNode, type RefObject, useLayoutEffect, useRef, useState } from "react";
import { useWidth } from "../../lib/use-width.ts";
import type { Axis } from "./numbers.ts";

// Our own charts: two kinds of lines and bars, where a library would be more than the rest of the page.

const height = 190;
const right = 8;
const top = 18;
const bottom = 24;
const roomOfLabel = 52;

/** Where the days and the values of a chart lie, in pixels. */
interface Plot {
  x: (index: number) => number;
  y: (value: number) => number;
  /** Of one day. */
  step: number;
  bottom: number;
}

/** The axes of a chart over days, its values from zero up. What is drawn in it is the caller's. */
export function Chart({
  label,
  days,
  axis: { end, format },
  children,
}: {
  /** What it shows, in a sentence. */
  label: string;
  days: readonly string[];
  axis: Axis;
  children: (plot: Plot) => ReactNode;
}) {
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const marks = [0, end / 2, end].map((value) => ({ value, label: format(value) }));
  const left = useLabelRoom(box, `${width > 0} ${marks.map(({ label }) => label)}`);
  const step = (width - left - right) / days.length;
  const every = Math.max(1, Math.ceil(roomOfLabel / Math.max(step, 1)));
  const plot: Plot = {
    x: (index) => left + step * (index + 0.5),
    y: (value) => height - bottom - ((height - bottom - top) * value) / end,
    step,
    bottom: height - bottom,
  };
  return (
    <div ref={box} className="h-52 min-w-0 px-4 pt-2">
      {width > 0 && (
        <svg width={width} height={height} role="img" aria-label={label} className="block text-2xs">
          {marks.map(({ value, label }) => (
            <g key={value}>
              <line
                x1={left}
                x2={width}
                y1={plot.y(value)}
                y2={plot.y(value)}
                className="stroke-line [shape-rendering:crispEdges]"
              />
              <text data-axis x={left - 6} y={plot.y(value) + 4} textAnchor="end" className="fill-faint tabular-nums">
                {label}
              </text>
            </g>
          ))}
          {days.map(
            (day, index) =>
              (days.length - 1 - index) % every === 0 && (
                <text key={day} x={plot.x(index)} y={height - 6} textAnchor="middle" className="fill-faint">
                  {day}
                </text>
              ),
          )}
          {children(plot)}
        </svg>
      )}
    </div>
  );
}

/**
 * One series of a chart: a line with a dot for each day that is known. The second of two is dashed. The last day is not
 * over: it stands apart as a ring, or each line would end in a fall that is none.
 */
export function Line({
  plot,
  values,
  titles,
  dashed = false,
}: {
  plot: Plot;
  /** Null breaks the line: what is unknown is not zero. */
  values: readonly (number | null)[];
  /** Of each dot. */
  titles: readonly string[];
  dashed?: boolean;
}) {
  const tone = dashed ? "stroke-(--step-tool)" : "stroke-(--step-model)";
  const fill = dashed ? "fill-(--step-tool)" : "fill-(--step-model)";
  return (
    <g>
      <path
        d={pathOf(values.slice(0, -1), plot)}
        fill="none"
        strokeWidth={2}
        strokeLinejoin="round"
        strokeDasharray={dashed ? "5 3" : undefined}
        className={tone}
      />
      {values.map(
        (value, index) =>
          value !== null && (
            <circle
              key={titles[index]}
              cx={plot.x(index)}
              cy={plot.y(value)}
              r={3}
              strokeWidth={1.5}
              className={index === values.length - 1 ? clsx("fill-surface", tone) : fill}
            >
              <title>{titles[index]}</title>
            </circle>
          ),
      )}
    </g>
  );
}

function pathOf(values: readonly (number | null)[], { x, y }: Plot): string {
  return values
    .map((value, index) => {
      if (value === null) return "";
      const isStart = index === 0 || values[index - 1] === null;
      return `${isStart ? "M" : "L"}${x(index).toFixed(1)},${y(value).toFixed(1)}`;
    })
    .join("");
}

/** What the look of a series means. */
export function Legend({ look, children }: { look: "solid" | "dashed" | "bar" | "striped"; children: string }) {
  return (
    <span className="inline-flex items-center gap-1.5">
      <svg width={18} height={10} aria-hidden className="shrink-0">
        {look === "bar" && <rect x={4} width={10} height={10} rx={2} className="fill-(--step-model)" />}
        {look === "striped" && (
          <>
            <rect x={4} width={10} height={10} rx={2} className="fill-bad-soft" />
            <path d="M4,10 L14,0 M4,4 L8,0 M10,10 L14,6" strokeWidth={2} className="stroke-bad" />
          </>
        )}
        {look === "solid" && <line x2={18} y1={5} y2={5} strokeWidth={2} className="stroke-(--step-model)" />}
        {look === "dashed" && (
          <line x2={18} y1={5} y2={5} strokeWidth={2} strokeDasharray="5 3" className="stroke-(--step-tool)" />
        )}
      </svg>
      {children}
    </span>
  );
}

const gap = 8;

/** How much room the labels of an axis take, measured as they stand there: those marked `data-axis` in an element. */
function useLabelRoom(element: RefObject<HTMLElement | null>, labels: string): number {
  const [room, setRoom] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: other labels take other room.
  useLayoutEffect(() => {
    const texts = element.current?.querySelectorAll<SVGTextElement>("[data-axis]") ?? [];
    if (texts.length > 0)
      setRoom(Math.ceil(Math.max(...Array.from(texts, (text) => text.getComputedTextLength()))) + gap);
  }, [element, labels]);
  return room;
}
