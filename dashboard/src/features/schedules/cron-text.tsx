import type { Schedule } from "../../../../server/wire/schedule.ts";
import { cronWords } from "./cron-words.ts";

/** When a schedule fires, in words where there are some, and its zone. */
export function CronText({ schedule: { cron, timezone } }: { schedule: Pick<Schedule, "cron" | "timezone"> }) {
  const words = cronWords(cron);
  return (
    <span className="min-w-0" title={`${cron} ${timezone}`}>
      {words ?? <code>{cron}</code>}
      <span className="text-xs text-muted max-rail:ml-1.5 rail:block">{timezone}</span>
    </span>
  );
}
