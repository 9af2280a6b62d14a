import { type KeyboardEvent, type PointerEvent, useRef, useState } from "react";
import { Swatch } from "./chart-legend.tsx";
import type { Tone } from "./chart-tones.ts";

/** Tooltip of a chart point. */
export interface Tip {
  /** The point: a day, an hour, a range. */
  label: string;
  rows: readonly { name: string; value: string; tone?: Tone }[];
}

/**
 * Tooltips of a chart for pointer and keyboard: one control, in which arrow keys move between points. A click or ↵
 * opens a point's details.
 */
export function Tips({
  label,
  tips,
  plot: { x, step },
  width,
  height,
  onOpen,
}: {
  label: string;
  tips: readonly Tip[];
  plot: { x: (index: number) => number; step: number };
  width: number;
  height: number;
  onOpen?: (index: number) => void;
}) {
  const [at, setAt] = useState<number | null>(null);
  const touched = useRef<number | null>(null);
  const last = tips.length - 1;
  const activeIndex = at === null ? null : Math.min(at, last);
  const indexOf = ({ nativeEvent }: PointerEvent | React.MouseEvent): number =>
    Math.max(0, Math.min(last, Math.floor((nativeEvent.offsetX - x(0)) / step + 0.5)));
  const onKeyDown = (event: KeyboardEvent) => {
    const now = activeIndex ?? last;
    const next = { ArrowLeft: now - 1, ArrowRight: now + 1, Home: 0, End: last }[event.key];
    if (next !== undefined) setAt(Math.max(0, Math.min(last, next)));
    else if (event.key === "Escape" && activeIndex !== null) setAt(null);
    else if (event.key === "Enter" && activeIndex !== null) onOpen?.(activeIndex);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const tip = activeIndex === null ? undefined : tips[activeIndex];
  return (
    <>
      <div
        role="slider"
        tabIndex={0}
        aria-label={onOpen ? `${label}: points, Enter shows runs` : `${label}: points`}
        aria-valuemin={0}
        aria-valuemax={Math.max(last, 0)}
        aria-valuenow={activeIndex ?? Math.max(last, 0)}
        aria-valuetext={tipText(tips[activeIndex ?? last])}
        className={`absolute inset-0 rounded-sm ${onOpen ? "cursor-pointer" : "cursor-crosshair"}`}
        onKeyDown={onKeyDown}
        onFocus={(event) => event.currentTarget.matches(":focus-visible") && setAt(last)}
        onBlur={() => setAt(null)}
        onPointerMove={(event) => setAt(indexOf(event))}
        onPointerDown={(event) => {
          touched.current = event.pointerType === "touch" ? at : null;
        }}
        onPointerLeave={() => setAt(null)}
        onClick={(event) => {
          const index = indexOf(event);
          // Touch has no hover: the first tap shows the tooltip, the second opens.
          const isFirstTouch = touched.current !== index && event.nativeEvent instanceof window.PointerEvent;
          if (isFirstTouch && (event.nativeEvent as globalThis.PointerEvent).pointerType === "touch") setAt(index);
          else onOpen?.(index);
        }}
      />
      {tip && activeIndex !== null && (
        <>
          <span
            aria-hidden
            className="pointer-events-none absolute top-2 rounded-sm bg-ink/5"
            style={{ left: x(activeIndex) - step / 2, width: step, height: height - 26 }}
          />
          <TipCard tip={tip} at={x(activeIndex) / width} />
        </>
      )}
    </>
  );
}

/** `at` is the horizontal position from 0 to 1; past the middle the tooltip is on the left. */
function TipCard({ tip: { label, rows }, at }: { tip: Tip; at: number }) {
  const isLeft = at > 0.5;
  return (
    <div
      aria-hidden
      data-tip
      className="pointer-events-none absolute top-0 z-(--z-menu) w-max max-w-64 rounded-md border border-line bg-surface px-2.5 py-2 text-xs shadow-2"
      style={isLeft ? { right: `calc(${(1 - at) * 100}% + 1rem)` } : { left: `calc(${at * 100}% + 1rem)` }}
    >
      <p className="font-medium">{label}</p>
      <dl className="mt-1 grid grid-cols-[minmax(0,1fr)_auto] gap-x-3">
        {rows.map(({ name, value, tone }) => (
          <div key={name} className="contents">
            <dt className="flex min-w-0 items-center gap-1.5 text-muted">
              {tone && <Swatch tone={tone} />}
              <span className="cut">{name}</span>
            </dt>
            <dd className="text-right tabular-nums">{value}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

const tipText = (tip: Tip | undefined): string =>
  tip ? `${tip.label}: ${tip.rows.map(({ name, value }) => `${name} ${value}`).join(", ")}` : "";
