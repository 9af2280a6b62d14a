import { clsx } from "clsx";
import { type ReactNode, type RefObject, useId, useLayoutEffect, useRef, useState } from "react";
import { useWidth } from "../../hooks/use-width.ts";
import type { Axis } from "../../lib/numbers.ts";
import { type Tip, Tips } from "./chart-tips.tsx";
import { isStriped, type Tone, tones } from "./chart-tones.ts";

// Charts of our own: a library would be larger than the rest of the page.

const tall = 190;
const right = 8;
const top = 18;
const bottom = 24;
const roomOfLabel = 52;

/** Maps points and values to pixels. */
interface Plot {
  x: (index: number) => number;
  y: (value: number) => number;
  /** Width of one point. */
  step: number;
  bottom: number;
}

/** Axes of a time chart with values from zero; children draw the data. */
export function Chart({
  label,
  points,
  axis: { end, format },
  tips,
  height = tall,
  onOpen,
  children,
}: {
  /** Description of the chart in a sentence. */
  label: string;
  /** Labels of the points, thinned out to fit; if some are empty, only the others are shown. */
  points: readonly string[];
  axis: Axis;
  /** Tooltip of each point. */
  tips: readonly Tip[];
  height?: number;
  /** Opens the details of a point. */
  onOpen?: (index: number) => void;
  children: (plot: Plot) => ReactNode;
}) {
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const marks = [0, end / 2, end].map((value) => ({ value, label: format(value) }));
  const left = useLabelRoom(box, `${width > 0} ${marks.map(({ label }) => label)}`);
  const step = (width - left - right) / points.length;
  const isSparse = points.includes("");
  const every = Math.max(1, Math.ceil(roomOfLabel / Math.max(step, 1)));
  const plot: Plot = {
    x: (index) => left + step * (index + 0.5),
    y: (value) => height - bottom - ((height - bottom - top) * value) / end,
    step,
    bottom: height - bottom,
  };
  return (
    <div className="min-w-0 px-4 pt-2 pb-2">
      <div ref={box} className="relative min-w-0" style={{ height }}>
        {width > 0 && (
          <>
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
                  <text
                    data-axis
                    x={left - 6}
                    y={plot.y(value) + 4}
                    textAnchor="end"
                    className="fill-faint tabular-nums"
                  >
                    {label}
                  </text>
                </g>
              ))}
              {points.map(
                (point, index) =>
                  (isSparse ? point !== "" : (points.length - 1 - index) % every === 0) && (
                    <text
                      // biome-ignore lint/suspicious/noArrayIndexKey: the order of the points never changes.
                      key={index}
                      {...(plot.x(index) + roomOfLabel / 2 > width
                        ? { x: width, textAnchor: "end" }
                        : { x: plot.x(index), textAnchor: "middle" })}
                      y={height - 6}
                      className="fill-faint"
                    >
                      {point}
                    </text>
                  ),
              )}
              {children(plot)}
            </svg>
            <Tips label={label.split(".")[0]!} tips={tips} plot={plot} width={width} height={height} onOpen={onOpen} />
          </>
        )}
      </div>
    </div>
  );
}

const widest = 34;
const gap = 1;

/** One bar with stacked parts. */
export function Stacks({
  plot,
  bars,
  series,
}: {
  plot: Plot;
  bars: readonly (readonly number[])[];
  series: readonly Tone[];
}) {
  const id = useId();
  const width = Math.max(1, Math.min(widest, plot.step * (plot.step > 6 ? 0.7 : 0.85)));
  return (
    <>
      <defs>
        {series.filter(isStriped).map((tone) => (
          <pattern
            key={tone}
            id={`${id}${tone}`}
            width={5}
            height={5}
            patternUnits="userSpaceOnUse"
            patternTransform="rotate(45)"
          >
            <rect width={5} height={5} className={tones[tone].soft} />
            <rect width={2.5} height={5} className={tones[tone].fill} />
          </pattern>
        ))}
      </defs>
      {bars.map((parts, index) => {
        let above = plot.bottom;
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: the order of the points never changes.
          <g key={index}>
            {parts.map((value, part) => {
              if (!(value > 0)) return null;
              const tone = series[part]!;
              // Every non-zero part stays visible, however small.
              const height = Math.max(part === 0 ? 1 : 2, plot.bottom - plot.y(value));
              above -= height;
              const rect = (
                <rect
                  key={tone}
                  x={plot.x(index) - width / 2}
                  y={above}
                  width={width}
                  height={height}
                  rx={Math.min(2, width / 4)}
                  {...(isStriped(tone) ? { fill: `url(#${id}${tone})` } : { className: tones[tone].fill })}
                />
              );
              above -= gap;
              return rect;
            })}
          </g>
        );
      })}
    </>
  );
}

/** One series as a line with a dot for each known value. An unfinished last point is a separate ring. */
export function Line({
  plot,
  values,
  isOpen = false,
  dashed = false,
}: {
  plot: Plot;
  /** Null breaks the line: unknown is not zero. */
  values: readonly (number | null)[];
  /** True if the last point is unfinished: a line to it would look like a drop. */
  isOpen?: boolean;
  dashed?: boolean;
}) {
  const tone = dashed ? "stroke-(--step-tool)" : "stroke-(--step-model)";
  const fill = dashed ? "fill-(--step-tool)" : "fill-(--step-model)";
  return (
    <g>
      <path
        d={pathOf(isOpen ? values.slice(0, -1) : values, plot)}
        fill="none"
        strokeWidth={2}
        strokeLinejoin="round"
        strokeDasharray={dashed ? "5 3" : undefined}
        className={tone}
      />
      {values.map((value, index) => {
        const isRing = isOpen && index === values.length - 1;
        if (value === null || (plot.step < 8 && !isRing)) return null;
        return (
          <circle
            // biome-ignore lint/suspicious/noArrayIndexKey: the order of the points never changes.
            key={index}
            cx={plot.x(index)}
            cy={plot.y(value)}
            r={3}
            strokeWidth={1.5}
            className={isRing ? clsx("fill-surface", tone) : fill}
          />
        );
      })}
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

const gapOfLabel = 8;

/** Measures the width of the axis labels: elements marked `data-axis`. */
function useLabelRoom(element: RefObject<HTMLElement | null>, labels: string): number {
  const [room, setRoom] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: other labels need a new measurement.
  useLayoutEffect(() => {
    const texts = element.current?.querySelectorAll<SVGTextElement>("[data-axis]") ?? [];
    if (texts.length > 0)
      setRoom(Math.ceil(Math.max(...Array.from(texts, (text) => text.getComputedTextLength()))) + gapOfLabel);
  }, [element, labels]);
  return room;
}
