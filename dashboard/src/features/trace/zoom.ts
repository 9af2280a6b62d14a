/** Visible part of a timeline, from 0 to 1. */
export interface View {
  from: number;
  to: number;
}

export const wholeView: View = { from: 0, to: 1 };

/** Smallest width; below it nothing could be distinguished. */
const smallest = 1 / 5000;

/** Zooms in by a factor, or out below 1. The point at `around` (0 to 1 of the view) stays in place. */
export function zoomed({ from, to }: View, by: number, around = 0.5): View {
  const width = Math.min(1, Math.max(smallest, (to - from) / by));
  return placed(from + (to - from - width) * around, width);
}

/** Moves the view by widths, negative to earlier, stopping at the ends. */
export const panned = ({ from, to }: View, by: number): View => placed(from + (to - from) * by, to - from);

export const isZoomed = ({ from, to }: View): boolean => to - from < 1;

function placed(from: number, width: number): View {
  const left = Math.min(1 - width, Math.max(0, from));
  return { from: left, to: left + width };
}
