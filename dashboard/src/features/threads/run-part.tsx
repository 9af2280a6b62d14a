import type { AnyRun as Run } from "../../../../server/wire/run.ts";
import { JsonView } from "../../ui/json-view.tsx";
import { Markdown } from "../../ui/markdown.tsx";
import { StepIcon } from "../../ui/step-icon.tsx";
import { Time } from "../../ui/time.tsx";
import type { Item, RunPart } from "./conversation.ts";
import { RunLine } from "./run-line.tsx";

/** What one run said in the thread. */
export function RunPartView({ part, run }: { part: RunPart; run: Run | undefined }) {
  return (
    <article className="flex min-w-0 flex-col gap-3">
      {part.runId === null ? (
        <p className="text-xs text-muted">
          Said elsewhere · <Time at={part.at} />
        </p>
      ) : (
        <RunLine runId={part.runId} run={run} at={part.at} />
      )}
      {part.items.map((item) => (
        <ItemView key={item.key} item={item} />
      ))}
      {run?.status === "failed" && run.error && (
        <p className="text-xs text-bad wrap-anywhere">
          {run.error.code}: {run.error.message}
        </p>
      )}
    </article>
  );
}

function ItemView({ item }: { item: Item }) {
  if (item.kind === "call") return <CallView call={item} />;
  if (item.by === "assistant")
    return (
      <div className="min-w-0">
        <span className="sr-only">Agent: </span>
        <Markdown text={item.text} />
      </div>
    );
  return <Asked text={item.text} />;
}

/** What a user said. */
export function Asked({ text }: { text: string }) {
  return (
    <p className="ml-auto max-w-[85%] rounded-lg bg-hover px-3.5 py-2 text-md wrap-anywhere whitespace-pre-wrap">
      <span className="sr-only">User: </span>
      {text}
    </p>
  );
}

function CallView({ call }: { call: Item & { kind: "call" } }) {
  return (
    <details className="min-w-0 rounded-lg border border-line">
      <summary className="flex min-h-9 list-none items-center gap-2 rounded-lg px-3 hover:bg-hover">
        <StepIcon type="tool_call" />
        <span className="cut font-medium">{call.name}</span>
        <span className="ml-auto text-xs text-muted">{call.output === null ? "No output" : "Called"}</span>
      </summary>
      <div className="flex flex-col gap-3 border-t border-line px-3 py-2.5">
        <div className="min-w-0">
          <h3 className="mb-1 text-xs text-muted">Arguments</h3>
          <JsonView value={call.args} />
        </div>
        {call.output !== null && (
          <div className="min-w-0">
            <h3 className="mb-1 text-xs text-muted">Output</h3>
            <pre className="max-h-80 overflow-y-auto wrap-anywhere whitespace-pre-wrap">{call.output}</pre>
          </div>
        )}
      </div>
    </details>
  );
}
