import { Pause, Play, SkipBack, SkipForward } from "lucide-react";
import { type KeyboardEvent, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { shouldIgnoreKey, useKeys } from "../../hooks/use-keys.ts";
import { formatDuration } from "../../lib/format.ts";
import { readPreference, usePreference } from "../../lib/local-storage.ts";
import { Button } from "../../ui/forms/button.tsx";
import { SegmentedControl } from "../../ui/forms/segmented-control.tsx";
import type { PlayerSlot } from "./found-trace.tsx";
import { adjacentTime, beginningsOf, momentsOf, rowAt, stepMarksOf } from "./moments.ts";
import type { Timeline } from "./timeline.ts";

/** Scale of the range input, fine enough for the pixels of a wide screen. */
const sliderMax = 10_000;
const forward = ["ArrowRight", "ArrowUp", "PageUp"];
const backward = ["ArrowLeft", "ArrowDown", "PageDown"];
/** Minimum interval between selections: each one writes the address, and browsers limit how often. */
const follow_ms = 250;

/** Replays the run from its journal: at its speed or faster, step by step, or by dragging. */
export function Player({ rows, timeline, position, onPosition, onSelect }: PlayerSlot) {
  const [speed, setSpeed] = usePreference("speed", speeds, "1");
  // Selects the last step even if it passed within one frame.
  const goToLast = () => {
    const last = rowAt(rows, timeline.end);
    if (last) onSelect(last.key);
  };
  const { isPlaying, toggle, pause } = usePlayback(timeline, position, onPosition, Number(speed), goToLast);
  const head = position === null ? timeline.end : timeline.begin + position;
  const current = rowAt(rows, head);
  useFollowed(position === null ? undefined : current?.key, onSelect);

  const moments = useMemo(() => momentsOf(rows), [rows]);
  const beginnings = useMemo(() => beginningsOf(rows), [rows]);
  const moveTo = (time: number | null) =>
    onPosition(time === null || time >= timeline.end ? null : Math.max(0, time - timeline.begin));
  const step = (by: 1 | -1, times: readonly number[] = beginnings) => {
    pause();
    moveTo(adjacentTime(times, head, by) ?? (by === 1 ? null : timeline.begin));
  };
  useKeys({ ",": () => step(-1), ".": () => step(1) });
  useSpace(toggle);
  const onKey = (event: KeyboardEvent) => {
    const by = forward.includes(event.key) ? 1 : backward.includes(event.key) ? -1 : null;
    const isEnd = event.key === "Home" || event.key === "End";
    if (by === null && !isEnd) return;
    event.preventDefault();
    event.stopPropagation();
    if (by !== null) return step(by, event.key.startsWith("Page") ? beginnings : moments);
    pause();
    moveTo(event.key === "Home" ? timeline.begin : null);
  };
  const [elapsed_ms, total] = [head - timeline.begin, timeline.end - timeline.begin];
  return (
    <section
      aria-label="Replay"
      className="flex min-h-13 shrink-0 flex-wrap items-center gap-x-3 gap-y-1 border-t border-line bg-surface px-4 py-1.5 rail:flex-nowrap rail:px-5"
    >
      <span className="flex items-center gap-1">
        <Button kind="ghost" size="icon" aria-label="Step back" title="Step back (,)" onClick={() => step(-1)}>
          <SkipBack aria-hidden className="size-4" strokeWidth={1.5} />
        </Button>
        <Button
          kind="primary"
          size="icon"
          aria-label={isPlaying ? "Pause" : "Play"}
          title={`${isPlaying ? "Pause" : "Play"} (space)`}
          onClick={toggle}
        >
          {isPlaying ? (
            <Pause aria-hidden className="size-4" strokeWidth={1.5} />
          ) : (
            <Play aria-hidden className="size-4" strokeWidth={1.5} />
          )}
        </Button>
        <Button kind="ghost" size="icon" aria-label="Step forward" title="Step forward (.)" onClick={() => step(1)}>
          <SkipForward aria-hidden className="size-4" strokeWidth={1.5} />
        </Button>
      </span>
      <span className="shrink-0 font-mono text-xs whitespace-nowrap tabular-nums max-rail:ml-auto">
        {formatDuration(elapsed_ms)} / {formatDuration(total)}
      </span>
      <div className="relative flex min-w-24 flex-1 flex-col justify-center max-rail:order-last max-rail:basis-full">
        <Marks rows={rows} timeline={timeline} />
        <input
          type="range"
          aria-label="Position of the replay"
          aria-valuetext={`${(elapsed_ms / 1000).toFixed(1)} seconds, ${current?.name ?? ""}`}
          min={0}
          max={sliderMax}
          value={Math.round(timeline.at(head) * sliderMax)}
          onChange={(event) => {
            pause();
            const value = Number(event.target.value);
            moveTo(value >= sliderMax ? null : timeline.timeOf(value / sliderMax));
          }}
          onKeyDown={onKey}
          className="w-full"
        />
      </div>
      <Button
        size="sm"
        className="rail:hidden"
        aria-label={`Speed ${speed}×, change`}
        onClick={() => setSpeed(speeds[(speeds.indexOf(speed) + 1) % speeds.length]!)}
      >
        {speed}×
      </Button>
      <span className="shrink-0 max-rail:hidden">
        <SegmentedControl
          name="replay speed"
          label="Speed"
          choices={speeds.map((value) => ({ value, label: `${value}×` }))}
          chosen={speed}
          onChoose={setSpeed}
        />
      </span>
      <span className="shrink-0 text-xs text-muted max-full:hidden">Replay costs nothing</span>
    </section>
  );
}

/** Marks of all steps above the range. */
function Marks({ rows, timeline }: Pick<PlayerSlot, "rows" | "timeline">) {
  const marks = useMemo(() => stepMarksOf(rows, timeline.at, timeline.end), [rows, timeline]);
  return (
    <div aria-hidden className="relative mx-2 h-2">
      {marks.map(({ type, left, right }) => (
        <span
          key={left}
          data-step={type}
          className="absolute inset-y-0 rounded-sm bg-step"
          style={{ left: `${left * 100}%`, width: `${(right - left) * 100}%` }}
        />
      ))}
    </div>
  );
}

/** Selects the replay's current step, at most as often as the address can be written. */
function useFollowed(key: string | undefined, onSelect: (key: string) => void): void {
  const last = useRef({ key, at: 0 });
  const select = useRef(onSelect);
  select.current = onSelect;
  useEffect(() => {
    if (key === last.current.key) return;
    if (key === undefined) {
      last.current.key = undefined;
      return;
    }
    const wait = Math.max(0, last.current.at + follow_ms - performance.now());
    const timer = setTimeout(() => {
      last.current = { key, at: performance.now() };
      select.current(key);
    }, wait);
    return () => clearTimeout(timer);
  }, [key]);
}

/** Playback speeds. */
const speeds = ["1", "4", "16"] as const;

/** Milliseconds to pass a folded stretch, regardless of its length. */
const fold_ms = 400;

/**
 * Advances the position at the recorded speed times `speed` and stops at the end. Pause before setting the position.
 */
function usePlayback(
  timeline: Timeline,
  position: number | null,
  onPosition: (position: number | null) => void,
  speed: number,
  onEnd: () => void,
) {
  const [isPlaying, setIsPlaying] = useState(false);
  const latest = useRef({ timeline, position, onPosition, speed, onEnd });
  latest.current = { timeline, position, onPosition, speed, onEnd };
  useEffect(() => {
    if (!isPlaying) return;
    const { position: from, timeline: line } = latest.current;
    let at = line.begin + (from ?? 0);
    let before = performance.now();
    let frame = requestAnimationFrame(function next(now) {
      const { timeline, onPosition, speed } = latest.current;
      const fold = timeline.folds.find(({ from, to }) => at >= from && at < to);
      const pace = fold ? Math.max(speed, (fold.to - fold.from) / fold_ms) : speed;
      at += Math.max(0, now - before) * pace;
      before = now;
      if (at >= timeline.end) {
        setIsPlaying(false);
        onPosition(null);
        latest.current.onEnd();
        return;
      }
      onPosition(at - timeline.begin);
      frame = requestAnimationFrame(next);
    });
    return () => cancelAnimationFrame(frame);
  }, [isPlaying]);
  const toggle = useCallback(() => setIsPlaying((playing) => !playing), []);
  const pause = useCallback(() => setIsPlaying(false), []);
  return { isPlaying, toggle, pause };
}

/** Binds the space bar, unless the focused element uses it. */
function useSpace(act: () => void): void {
  const latest = useRef(act);
  latest.current = act;
  useEffect(() => {
    const onKey = (event: globalThis.KeyboardEvent) => {
      const { key, target, repeat, defaultPrevented, metaKey, ctrlKey, altKey } = event;
      if (key !== " " || repeat || defaultPrevented || metaKey || ctrlKey || altKey) return;
      if (readPreference("keys") === "off" || isPressed(target)) return;
      event.preventDefault();
      latest.current();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
}

/** Buttons, links and checkboxes use the space bar themselves; the scrubber does not. */
function isPressed(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return target.type !== "range";
  return shouldIgnoreKey(target) || target.closest("button,a,summary,[role=tab]") !== null;
}
