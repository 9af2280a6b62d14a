import { useNow } from "../../hooks/use-now.ts";
import { formatLocal, formatUntil, formatUtc } from "../../lib/format.ts";
import { useTimeFormat } from "./time.tsx";

/** A future time in the chosen format; hovering shows all three. */
export function RelativeTime({ at }: { at: string }) {
  const [format] = useTimeFormat();
  const now = useNow(format === "relative");
  const shown = { relative: () => formatUntil(at, now), local: () => formatLocal(at), utc: () => formatUtc(at) }[
    format
  ]();
  return (
    <time dateTime={at} title={`${formatUntil(at, Date.now())}\n${formatLocal(at)} local time\n${formatUtc(at)}`}>
      {shown}
    </time>
  );
}
