import type { ToolProgress } from "./run-event.ts";

/** Returns the progress of a call for people: `3 of 10: Reading`, without the parts that are not known. */
export function progressText({
  progress,
  total,
  message,
}: Pick<ToolProgress, "progress" | "total" | "message">): string {
  const count =
    progress === null ? "" : total === null ? rounded(progress) : `${rounded(progress)} of ${rounded(total)}`;
  return [count, message].filter(Boolean).join(": ");
}

const rounded = (value: number): string => String(Math.round(value * 100) / 100);
