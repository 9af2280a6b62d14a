import { type ReactNode, useRef } from "react";
import { useWidth } from "../../lib/use-width.ts";
import type { Axis } from "./axis.ts";
import { useLabelRoom } from "./use-label-room.ts";

const height = 190;
const right = 8;
const top = 18;
const bottom = 24;
const roomOfLabel = 52;

/** Where the days and the values of a chart lie, in pixels. */
export interface Plot {
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
