import { isStriped, type Tone, tones } from "./chart-tones.ts";

/** Legend of a line. */
export function LineLegend({ dashed = false, children }: { dashed?: boolean; children: string }) {
  return (
    <span className="inline-flex items-center gap-1.5">
      <svg width={18} height={10} aria-hidden className="shrink-0">
        <line
          x2={18}
          y1={5}
          y2={5}
          strokeWidth={2}
          strokeDasharray={dashed ? "5 3" : undefined}
          className={dashed ? "stroke-(--step-tool)" : "stroke-(--step-model)"}
        />
      </svg>
      {children}
    </span>
  );
}

/** Legend of a bar's part. */
export function BarLegend({ tone, children }: { tone: Tone; children: string }) {
  return (
    <span className="inline-flex max-w-48 min-w-0 items-center gap-1.5">
      <Swatch tone={tone} />
      <span className="cut" title={children}>
        {children}
      </span>
    </span>
  );
}

/** A sample of a bar's fill. */
export function Swatch({ tone }: { tone: Tone }) {
  const { fill, soft } = tones[tone];
  return (
    <svg width={10} height={10} aria-hidden className="shrink-0">
      <rect width={10} height={10} rx={2} className={isStriped(tone) ? soft : fill} />
      {isStriped(tone) && <path d="M0,10 L10,0 L6,0 L0,6z M10,4 L4,10 L8,10 L10,8z" className={fill} />}
    </svg>
  );
}
