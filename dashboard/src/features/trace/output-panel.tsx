import { Download, RotateCcw } from "lucide-react";
import type { Decider, RunError, FileFacts as StepFile } from "../../../../server/core/run-event.ts";
import { stepKinds } from "../../../../server/core/step-kinds.ts";
import type { Approval } from "../../../../server/core/trace.ts";
import type { TextPart } from "../../../../server/wire/fold-frames.ts";
import type { TraceStep } from "../../../../server/wire/trace.ts";
import { useActorName } from "../../entities/user/use-actor-name.ts";
import { resourceUrl } from "../../lib/api.ts";
import { downloadUrl } from "../../lib/download.ts";
import { formatBytes, formatCost, formatCount, formatDuration } from "../../lib/format.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Button } from "../../ui/button.tsx";
import { WireLine } from "../../ui/error-note.tsx";
import { Note } from "../../ui/note.tsx";
import { Time } from "../../ui/time.tsx";
import { Block, Value } from "../../ui/value.tsx";
import { useReached } from "./replay-context.ts";
import { NotYet } from "./step-text.tsx";
import { Written } from "./steps/model-call.tsx";
import type { StepProps } from "./steps/step-part.ts";
import { stepParts } from "./steps/step-parts.ts";
import { attemptLengths } from "./waits.ts";

/** What a step came to: its error first, then who decided, what was tried, and what it gave. */
export function OutputPanel({
  step,
  live,
  ended,
  waits,
}: {
  step: TraceStep;
  live: TextPart | undefined;
  /** The error that the run ended with here, if it did. */
  ended: RunError | null;
  /** What it waits for stands above. */
  waits: boolean;
}) {
  const come = useReached();
  // What came of a step is not known before its end; what a model writes grows until then.
  if (come !== "all")
    return step.type === "model_call" ? <Written step={step} live={live} /> : <NotYet part={come === "part"} />;
  return (
    <>
      {(step.error ?? ended) && <StepError step={step} error={(step.error ?? ended)!} ended={ended} />}
      {step.approval && <Decision approval={step.approval} />}
      <Attempts step={step} />
      {!waits && <Result step={step} live={live} />}
      {step.files && step.files.length > 0 && <Files files={step.files} />}
    </>
  );
}

function StepError({
  step,
  error,
  ended,
}: {
  step: TraceStep;
  error: NonNullable<TraceStep["error"]>;
  ended: RunError | null;
}) {
  const { isCall } = stepKinds[step.type] ?? {};
  const isCause = ended?.code === error.code;
  return (
    <Note tone={step.status === "rejected" || step.status === "cancelled" ? "info" : "bad"}>
      <b>{error.message}</b>
      {!ended && isCall && step.status === "failed" && <p className="text-muted">The model received this error.</p>}
      {ended && (
        <p className="text-muted">
          {isCause ? "This error ended the run." : `The run ended here: ${ended.message}`}{" "}
          {ended.retryable ? "Retrying may succeed." : "Retrying would fail again."}
        </p>
      )}
      <WireLine code={error.code} />
    </Note>
  );
}

function Decision({ approval }: { approval: Approval }) {
  const { decision, reason, edited, at, by } = approval;
  const name = useActorName(by);
  return (
    <Note tone={decision === "approve" ? "ok" : "info"}>
      <p>
        <b>{decision === "approve" ? "Approved" : "Rejected"}</b>
        {by && ` ${whoWords(by, name)}`}, <Time at={at} />
        {edited && ", with other arguments"}
      </p>
      {reason && <p className="text-muted">{reason}</p>}
      {by?.id && name === null && <code className="wrap-anywhere text-muted">{by.id}</code>}
    </Note>
  );
}

/** `by ada@example.com`, `with the API key “Desk”`; of one who is gone only where it was said. */
function whoWords({ type }: Decider, name: string | null): string {
  if (type === "user") return name === null ? "in the dashboard" : `by ${name}`;
  return type === "api_key" ? (name === null ? "with an API key" : `with the API key “${name}”`) : "";
}

function Result({ step, live }: StepProps) {
  const { Output } = stepParts[step.type] ?? {};
  if (Output) return <Output step={step} live={live} />;
  if (step.output != null) return <Value title="Output" name={step.name} value={step.output} />;
  if (step.error) return null;
  const words: Record<string, string> = {
    in_progress: "In progress.",
    waiting: "Waiting for a response.",
    unknown: "The outcome is unknown.",
    cancelled: "It was cancelled before it returned.",
  };
  return <p className="text-muted">{words[step.status] ?? "No output."}</p>;
}

function Files({ files }: { files: readonly StepFile[] }) {
  const at = useWorkspace();
  return (
    <Block title="Files created">
      <ul className="flex flex-col gap-1">
        {files.map(({ id, filename, bytes }) => (
          <li key={id} className="flex min-w-0 items-center gap-2">
            <Button
              size="sm"
              className="min-w-0 shrink!"
              title={`Download ${filename}`}
              onClick={() => downloadUrl(resourceUrl(at, `/files/${encodeURIComponent(id)}/content`), filename)}
            >
              <Download aria-hidden className="size-3.5 shrink-0" strokeWidth={1.5} />
              <span className="cut">{filename}</span>
            </Button>
            <span className="shrink-0 text-xs text-muted">{formatBytes(bytes)}</span>
          </li>
        ))}
      </ul>
    </Block>
  );
}

/** Why each attempt that was given up was given up, and how long was waited then. */
function Attempts({ step }: { step: TraceStep }) {
  if (step.retries.length === 0) return null;
  const lengths = attemptLengths(step);
  return (
    <Block title="Failed attempts">
      <ol className="flex flex-col divide-y divide-line-soft rounded-md border border-line">
        {step.retries.map(({ attempt, reason, delay_ms, usage }, index) => (
          <li key={attempt} className="flex min-w-0 gap-2.5 px-2.5 py-1.5">
            <RotateCcw aria-hidden className="mt-0.5 size-3.5 shrink-0 text-muted" strokeWidth={1.5} />
            <div className="min-w-0 flex-1">
              <p className="wrap-anywhere">{reason ? reason.message : "The server stopped during this attempt."}</p>
              <p className="flex flex-wrap gap-x-3 text-xs text-muted tabular-nums">
                <span>Attempt {attempt}</span>
                {reason && <code>{reason.code}</code>}
                <span>failed after {formatDuration(lengths[index] ?? null)}</span>
                {delay_ms > 0 && <span>then waited {formatDuration(delay_ms)}</span>}
                {usage && (
                  <span>
                    {formatCount(usage.output_tokens)} output tokens, {formatCost(usage.cost_usd)}
                  </span>
                )}
              </p>
            </div>
          </li>
        ))}
      </ol>
    </Block>
  );
}
