import type { RunView } from "../../../../server/domain/api-types/run-view.ts";
import type { TraceStep } from "../../../../server/domain/api-types/trace.ts";
import { progressText } from "../../../../server/domain/progress-text.ts";
import { CallProgress } from "../../entities/tool-call/call-progress.tsx";
import { formatUtc } from "../../lib/format.ts";
import { Block } from "../../ui/data/value.tsx";

type Told = NonNullable<TraceStep["progress"]>;

/** The progress that an MCP server reports of a call: as a bar while it works, and as a list. */
export function StepProgress({ step, live }: { step: TraceStep; live: RunView | null }) {
  const told = progressOf(step, live);
  const newest = told.findLast(({ level }) => level === null);
  if (told.length === 0) return null;
  return (
    <Block title="Progress">
      <div className="flex flex-col gap-1.5">
        {step.completed_at === null && newest && <CallProgress progress={newest} />}
        <ol className="flex max-h-60 flex-col gap-0.5 overflow-y-auto text-xs">
          {told.map((one) => (
            <li key={`${one.at} ${one.level}`} className="flex min-w-0 gap-2">
              <time dateTime={one.at} className="shrink-0 text-muted tabular-nums">
                {formatUtc(one.at)}
              </time>
              {one.level && <span className="shrink-0 text-muted">{one.level}</span>}
              <span className="min-w-0 wrap-anywhere">{progressText(one)}</span>
            </li>
          ))}
        </ol>
      </div>
    </Block>
  );
}

/** Returns the progress of the loaded step, and what the stream has brought since. */
function progressOf({ progress = [], step_index }: TraceStep, live: RunView | null): Told {
  const loadedTo = progress.at(-1)?.at ?? "";
  const since = (live?.entries ?? []).flatMap(({ event, data }) =>
    event === "tool.progress" && data.step_index === step_index && data.at > loadedTo ? [data] : [],
  );
  return [...progress, ...since];
}
