import { type ReactNode, useRef } from "react";
import { useWidth } from "../../lib/use-width.ts";

const height = 190;
const left = 44;
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

/** The axes of a chart over days: values from zero to `end`. What is drawn in it is the caller's. */
export function Chart({
  label,
  days,
  end,
  format,
  children,
}: {
  /** What it shows, in a sentence. */
  label: string;
  days: readonly string[];
  end: number;
  format: (value: number) => string;
  children: (plot: Plot) => ReactNode;
}) {
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
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
          {[0, 0.5, 1].map((part) => (
            <g key={part}>
              <line
                x1={left}
                x2={width}
                y1={plot.y(end * part)}
                y2={plot.y(end * part)}
                className="stroke-line [shape-rendering:crispEdges]"
              />
              <text x={left - 6} y={plot.y(end * part) + 4} textAnchor="end" className="fill-faint">
                {format(end * part)}
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
