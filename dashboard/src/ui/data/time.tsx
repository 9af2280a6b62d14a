import { useNow } from "../../hooks/use-now.ts";
import { formatLocal, formatRelative, formatUtc } from "../../lib/format.ts";
import { usePreference } from "../../lib/local-storage.ts";

export const timeFormats = ["relative", "local", "utc"] as const;
export type TimeFormat = (typeof timeFormats)[number];

/** Time format of all pages. */
export function useTimeFormat() {
  return usePreference<TimeFormat>("times", timeFormats, "relative");
}

/** A time in the chosen format; hovering shows all three. */
export function Time({ at }: { at: string }) {
  const [format] = useTimeFormat();
  const now = useNow(format === "relative");
  const shown = { relative: () => formatRelative(at, now), local: () => formatLocal(at), utc: () => formatUtc(at) }[
    format
  ]();
  return (
    <time dateTime={at} title={`${formatRelative(at, Date.now())}\n${formatLocal(at)} local time\n${formatUtc(at)}`}>
      {shown}
    </time>
  );
}
