import { type View, wholeView } from "./zoom.ts";

/** Tick of the axis. `at` is between 0 and 1. */
interface Tick {
  at: number;
  label: string;
}

/**
 * Time axis from left to right, with idle stretches folded to narrow breaks. All times are milliseconds since the
 * epoch.
 */
export interface Timeline {
  begin: number;
  end: number;
  /** Folded idle stretches. */
  folds: Span[];
  /** Returns the position of a time, from 0 to 1. */
  at(time: number): number;
  /** Returns the time at a position. */
  timeOf(fraction: number): number;
  ticks: Tick[];
  /** Returns the part of this timeline that `view` shows. */
  zoom(view: View): Timeline;
}

/** Shortest idle stretch that is folded. */
const foldFrom_ms = 5000;
/** Share of the width per break. */
const breakShare = 0.05;
const breaksMax = 12;

/** Creates the timeline of a run; time outside the `work` spans is idle. */
export function createTimeline(whole: Span, work: readonly Span[], folded: boolean): Timeline {
  const within = { from: whole.from, to: Math.max(whole.to, whole.from + 1) };
  const idle = gaps(within, work);
  const long = idle.filter(({ from, to }) => to - from >= foldFrom_ms);
  const folds = folded ? widest(long) : [];
  const visible_ms = Math.max(1, within.to - within.from - total(folds));
  const share = folds.length === 0 ? 0 : Math.min(breakShare, 0.4 / folds.length);
  const all = piecesOf(within, folds, visible_ms, share);
  const zoom = (view: View): Timeline => {
    const pieces = all.map((piece) => seenIn(view, piece));
    return {
      begin: within.from,
      end: within.to,
      folds,
      at: (time) => place(pieces, time),
      timeOf: (fraction) => timeAt(pieces, fraction),
      ticks: ticksOf(pieces, within, visible_ms * (view.to - view.from)),
      zoom,
    };
  };
  return zoom(wholeView);
}

function seenIn({ from, to }: View, piece: Piece): Piece {
  const toView = (at: number) => (at - from) / (to - from);
  return { ...piece, left: toView(piece.left), right: toView(piece.right) };
}

/** Limits the breaks to the longest ones, so that room for the work remains. */
function widest(spans: Span[]): Span[] {
  const longestSpans = new Set([...spans].sort((a, b) => b.to - b.from - (a.to - a.from)).slice(0, breaksMax));
  return spans.filter((span) => longestSpans.has(span));
}

interface Piece extends Span {
  /** From 0 to 1. */
  left: number;
  right: number;
  isFold: boolean;
}

function piecesOf(within: Span, folds: readonly Span[], shown: number, share: number): Piece[] {
  const room = 1 - share * folds.length;
  const pieces: Piece[] = [];
  let left = 0;
  const add = (span: Span, width: number, isFold: boolean) => {
    pieces.push({ ...span, left, right: left + width, isFold });
    left += width;
  };
  let from = within.from;
  for (const fold of folds) {
    add({ from, to: fold.from }, ((fold.from - from) / shown) * room, false);
    add(fold, share, true);
    from = fold.to;
  }
  add({ from, to: within.to }, ((within.to - from) / shown) * room, false);
  return pieces;
}

function place(pieces: readonly Piece[], time: number): number {
  const piece = pieces.find(({ to }) => time <= to) ?? pieces.at(-1)!;
  if (piece.to === piece.from) return piece.left;
  const part = (time - piece.from) / (piece.to - piece.from);
  return piece.left + Math.min(1, Math.max(0, part)) * (piece.right - piece.left);
}

function timeAt(pieces: readonly Piece[], fraction: number): number {
  const piece = pieces.find(({ right }) => fraction <= right) ?? pieces.at(-1)!;
  if (piece.right === piece.left) return piece.from;
  const part = (fraction - piece.left) / (piece.right - piece.left);
  return piece.from + Math.min(1, Math.max(0, part)) * (piece.to - piece.from);
}

const steps_ms = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 3e4, 6e4, 12e4, 3e5, 6e5, 18e5, 36e5];
const day_ms = 86_400_000;
const ticksAbout = 6;
/** Closer labels would touch. */
const apart = 0.09;

function ticksOf(pieces: readonly Piece[], within: Span, shown: number): Tick[] {
  const step = steps_ms.find((each) => shown / each <= ticksAbout) ?? Math.ceil(shown / ticksAbout / day_ms) * day_ms;
  const ticks: Tick[] = [];
  for (const piece of pieces) {
    if (piece.isFold || piece.right < 0 || piece.left > 1) continue;
    // Start at the visible part: ticks outside may be millions.
    const [from, to] = [Math.max(0, piece.left), Math.min(1, piece.right)].map((at) => timeAt([piece], at));
    const first = Math.ceil((from! - within.from) / step) * step;
    for (let ms = first; ms <= to! - within.from; ms += step) {
      const at = place([piece], within.from + ms);
      const last = ticks.at(-1);
      if (!last || at - last.at >= apart) ticks.push({ at, label: tickLabel(ms, step) });
    }
  }
  return ticks;
}

/** Formats a tick; an axis uses one unit: `0 s`, `1.5 s`, `200 ms`, `3 min`. */
function tickLabel(ms: number, step: number): string {
  if (step < 1000 && ms < 1000) return `${ms} ms`;
  if (ms < 60_000 || step < 60_000) {
    if (ms >= 120_000)
      return `${Math.floor(ms / 60_000)}:${String(Math.round((ms % 60_000) / 1000)).padStart(2, "0")} min`;
    return `${Number((ms / 1000).toFixed(2))} s`;
  }
  if (ms < 7_200_000) return `${Math.round(ms / 60_000)} min`;
  return `${Number((ms / 3_600_000).toFixed(1))} h`;
}

/** A time range in milliseconds. */
export interface Span {
  from: number;
  to: number;
}

/** Merges overlapping spans, in order. */
export function union(spans: readonly Span[]): Span[] {
  const joined: Span[] = [];
  for (const span of spans.filter(({ from, to }) => to > from).sort((a, b) => a.from - b.from)) {
    const last = joined.at(-1);
    if (last && span.from <= last.to) last.to = Math.max(last.to, span.to);
    else joined.push({ ...span });
  }
  return joined;
}

/** Returns the parts of `within` that no span covers. */
export function gaps(within: Span, spans: readonly Span[]): Span[] {
  const free: Span[] = [];
  let from = within.from;
  for (const span of union(spans)) {
    if (span.from > from) free.push({ from, to: Math.min(span.from, within.to) });
    from = Math.max(from, span.to);
  }
  if (from < within.to) free.push({ from, to: within.to });
  return free.filter((gap) => gap.to > gap.from);
}

/** Sum of the lengths. */
const total = (spans: readonly Span[]): number => spans.reduce((sum, { from, to }) => sum + to - from, 0);
