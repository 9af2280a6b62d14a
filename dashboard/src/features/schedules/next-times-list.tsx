import { useNow } from "../../hooks/use-now.ts";
import { formatUntil } from "../../lib/format.ts";
import { zoneTime } from "./next-times.ts";

/** Upcoming times in their time zone, with the time remaining. */
export function NextTimesList({ times, timezone }: { times: readonly number[]; timezone: string }) {
  const now = useNow();
  return (
    <ol aria-label="Next runs" className="flex flex-col text-xs tabular-nums">
      {times.map((at) => (
        <li key={at} className="flex justify-between gap-4 py-0.5" title={new Date(at).toISOString()}>
          <span>{zoneTime(at, timezone)}</span>
          <span className="text-muted">{formatUntil(new Date(at).toISOString(), now)}</span>
        </li>
      ))}
    </ol>
  );
}
