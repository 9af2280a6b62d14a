import type { AnyRun as Run } from "../../../../server/wire/run.ts";
import { between, formatDuration } from "../../lib/format.ts";
import { statusWords } from "../../ui/status-pill.tsx";

/** One polite line for screen readers in place of every delta: “Writing”, then “Completed in 1.2 s”. */
export function RunAnnouncer({ run }: { run: Run }) {
  const took = formatDuration(between(run.started_at, run.ended_at));
  const line =
    run.status === "in_progress"
      ? "Writing"
      : run.started_at && run.ended_at
        ? `${statusWords[run.status]} in ${took}`
        : statusWords[run.status];
  return (
    <p role="status" className="sr-only">
      {line}
    </p>
  );
}
