import type { CallProgress as Told } from "../../../../server/domain/api-types/run-view.ts";
import { progressText } from "../../../../server/domain/progress-text.ts";
import { Progress } from "../../ui/feedback/progress.tsx";

/** How far a call is that is under way: a bar if its end is known, and the words of its server. */
export function CallProgress({ progress: told }: { progress: Told }) {
  const { progress, total } = told;
  const text = progressText(told);
  return (
    <span className="flex min-w-0 flex-1 items-center gap-2 text-xs text-muted">
      {progress !== null && total !== null && (
        <span className="w-16 shrink-0">
          <Progress label="Progress" share={progress / total} />
        </span>
      )}
      <span className="cut tabular-nums" title={text}>
        {text}
      </span>
    </span>
  );
}
