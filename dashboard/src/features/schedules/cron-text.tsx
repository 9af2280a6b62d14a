import type { Schedule } from "../../../../server/domain/api-types/schedule.ts";
import { cronWords } from "./cron-words.ts";

/** A schedule's cron expression in words if possible, and its time zone. */
export function CronText({ schedule: { cron, timezone } }: { schedule: Pick<Schedule, "cron" | "timezone"> }) {
  const words = cronWords(cron);
  return (
    <span className="min-w-0" title={`${cron} ${timezone}`}>
      {words ?? <code>{cron}</code>}
      <span className="text-xs text-muted max-rail:ml-1.5 rail:block">{timezone}</span>
    </span>
  );
}
