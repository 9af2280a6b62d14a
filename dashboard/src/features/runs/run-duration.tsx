import { isOver } from "../../../../server/core/run-state.ts";
import type { AnyRun as Run } from "../../../../server/wire/run.ts";
import { between, formatDuration, formatElapsed, unknown } from "../../lib/format.ts";
import { useNow } from "../../lib/use-now.ts";

/** How long a run took, or takes so far. */
export function RunDuration({ run }: { run: Pick<Run, "status" | "started_at" | "ended_at"> }) {
  const grows = !isOver(run.status) && Boolean(run.started_at);
  const now = useNow(grows);
  if (!run.started_at) return <>{unknown}</>;
  return (
    <>
      {grows ? formatElapsed(now - Date.parse(run.started_at)) : formatDuration(between(run.started_at, run.ended_at))}
    </>
  );
}
