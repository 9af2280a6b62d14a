import type { Schedule } from "../../../../server/domain/api-types/schedule.ts";
import { wholeText } from "../../../../server/domain/run-input.ts";
import { AutomationRule } from "../../entities/automation/automation-body.tsx";
import type { CatchUp, IfBusy } from "../../entities/schedule/schedule-api.ts";
import { cronWords } from "./cron-words.ts";
import { NextTimesList } from "./next-times-list.tsx";

const busyWords: Record<IfBusy, string> = {
  start: "If the previous run is still in progress, another one starts.",
  skip: "If the previous run is still in progress, this one is skipped.",
  queue: "If the previous run is still in progress, one run waits for it.",
};
const missedWords: Record<CatchUp, string> = {
  skip: "Missed runs are listed as missed.",
  one: "After missed runs, one run starts.",
};

/** Input and next times of a schedule. */
export function SchedulePlan({ schedule }: { schedule: Schedule }) {
  const { cron, timezone, input, next_run_ats, if_busy, catch_up } = schedule;
  const words = cronWords(cron);
  return (
    <AutomationRule label="Plan">
      <div>
        <h2 className="text-md">{words ?? <code>{cron}</code>}</h2>
        <p className="text-xs text-muted">
          <code>{cron}</code> {timezone}
        </p>
      </div>
      <div>
        <h3 className="mb-1 text-xs font-medium text-muted">Next runs</h3>
        {next_run_ats.length > 0 ? (
          <NextTimesList times={next_run_ats.map((at) => Date.parse(at))} timezone={timezone} />
        ) : (
          <p className="text-muted">None: it is not active.</p>
        )}
      </div>
      <div>
        <h3 className="mb-1 text-xs font-medium text-muted">Input</h3>
        <p className="max-h-60 overflow-y-auto wrap-anywhere whitespace-pre-wrap">{wholeText(input) || "Empty"}</p>
      </div>
      <p className="text-xs text-muted">
        {busyWords[if_busy]} {missedWords[catch_up]}
      </p>
    </AutomationRule>
  );
}
