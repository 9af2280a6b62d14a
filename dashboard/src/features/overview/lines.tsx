import { clsx } from "clsx";
import type { Plot } from "./chart.tsx";

/** One series of a chart: a line with a dot for each day that is known. The second of two is dashed. */
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
        d={pathOf(values, plot)}
        fill="none"
        strokeWidth={2}
        strokeLinejoin="round"
        strokeDasharray={dashed ? "5 3" : undefined}
        className={tone}
      />
      {values.map(
        (value, index) =>
          value !== null && (
            <circle key={titles[index]} cx={plot.x(index)} cy={plot.y(value)} r={3} className={clsx(fill)}>
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
