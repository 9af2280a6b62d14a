/** What of a timeline is shown, in parts of the whole: from 0 to 1. */
export interface View {
  from: number;
  to: number;
}

export const wholeView: View = { from: 0, to: 1 };

/** Nearer than this, nothing more could be told apart. */
const smallest = 1 / 5000;

/** `by` times as near, so that what stands at `around` (from 0 to 1 of what is shown) stays there; below 1 it is farther. */
export function zoomed({ from, to }: View, by: number, around = 0.5): View {
  const width = Math.min(1, Math.max(smallest, (to - from) / by));
  return placed(from + (to - from - width) * around, width);
}

/** Later by so many widths of what is shown; earlier where that is below 0. It stops at both ends. */
export const panned = ({ from, to }: View, by: number): View => placed(from + (to - from) * by, to - from);

export const isZoomed = ({ from, to }: View): boolean => to - from < 1;

function placed(from: number, width: number): View {
  const left = Math.min(1 - width, Math.max(0, from));
  return { from: left, to: left + width };
}
