import { Download, RotateCcw } from "lucide-react";
import type { TextPart } from "../../../../server/domain/api-types/run-view.ts";
import type { TraceStep } from "../../../../server/domain/api-types/trace.ts";
import { imageTypes } from "../../../../server/domain/image-types.ts";
import type { Decider, RunError, FileFacts as StepFile } from "../../../../server/domain/run-event.ts";
import { stepKinds } from "../../../../server/domain/step-kinds.ts";
import type { Approval } from "../../../../server/domain/trace.ts";
import { ShownMedia } from "../../entities/file/shown-media.tsx";
import { useActorName } from "../../entities/user/use-actor-name.ts";
import { resourceUrl } from "../../lib/api.ts";
import { downloadUrl } from "../../lib/download.ts";
import { formatBytes, formatCost, formatCount, formatDuration } from "../../lib/format.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Time } from "../../ui/data/time.tsx";
import { Block, FoldedText, Value } from "../../ui/data/value.tsx";
import { Callout } from "../../ui/feedback/callout.tsx";
import { WireLine } from "../../ui/feedback/error-note.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { useReplayProgress } from "./replay-context.ts";
import { SharedFolder } from "./shared-folder.tsx";
import { PendingOutput } from "./step-text.tsx";
import { Written } from "./steps/model-call.tsx";
import type { StepProps } from "./steps/step-part.ts";
import { stepParts } from "./steps/step-parts.ts";
import { attemptLengths } from "./waits.ts";

/** Result of a step: its error, the decision, attempts and output. */
export function OutputPanel({
  step,
  live,
  ended,
  waits,
}: {
  step: TraceStep;
  live: TextPart | undefined;
  /** The run's error if it ended here. */
  ended: RunError | null;
  /** True if its pending call is shown above. */
  waits: boolean;
}) {
  const replayState = useReplayProgress();
  // During a replay the result is hidden until the step ends; a model's text grows until then.
  if (replayState !== "all")
    return step.type === "model_call" ? (
      <Written step={step} live={live} />
    ) : (
      <PendingOutput part={replayState === "part"} />
    );
  return (
    <>
      {(step.error ?? ended) && <StepError step={step} error={(step.error ?? ended)!} ended={ended} />}
      {step.approval && <Decision approval={step.approval} />}
      <Attempts step={step} />
      {!waits && <Result step={step} live={live} />}
      {step.files && step.files.length > 0 && <Files files={step.files} />}
      {step.workspace && <SharedFolder folder={step.workspace} />}
    </>
  );
}

/** A longer message is text, not a title. */
const longestTitle = 240;

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
    <Callout tone={step.status === "rejected" || step.status === "cancelled" ? "info" : "bad"}>
      {error.message.length > longestTitle ? (
        <FoldedText text={error.message} most={longestTitle} />
      ) : (
        <b>{error.message}</b>
      )}
      {!ended && isCall && step.status === "failed" && <p className="text-muted">The model received this error.</p>}
      {ended && (
        <p className="text-muted">
          {isCause ? "This error ended the run." : `The run ended here: ${ended.message}`}{" "}
          {ended.retryable ? "Retrying may succeed." : "Retrying would fail again."}
        </p>
      )}
      <WireLine code={error.code} />
    </Callout>
  );
}

function Decision({ approval }: { approval: Approval }) {
  const { decision, reason, edited, at, by } = approval;
  const name = useActorName(by);
  return (
    <Callout tone={decision === "approve" ? "ok" : "info"}>
      <p>
        <b>{decision === "approve" ? "Approved" : "Rejected"}</b>
        {by && ` ${whoWords(by, name)}`}, <Time at={at} />
        {edited && ", with other arguments"}
      </p>
      {reason && <p className="text-muted">{reason}</p>}
      {by?.id && name === null && <code className="wrap-anywhere text-muted">{by.id}</code>}
    </Callout>
  );
}

/** Describes the decider: `by ada@example.com`, `with the API key “Desk”`; without a name only the kind. */
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
  const pictures = files
    .filter(({ mime_type }) => imageTypes.has(mime_type))
    .map(({ id, filename }) => ({ file_id: id, filename }));
  return (
    <Block title="Files created">
      <ShownMedia images={pictures} />
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

/** Failed attempts with their errors and the delay after each. */
function Attempts({ step }: { step: TraceStep }) {
  if (step.retries.length === 0) return null;
  const lengths = attemptLengths(step);
  return (
    <Block title="Failed attempts">
      <ol className="flex flex-col divide-y divide-line-soft rounded-md border border-line">
        {step.retries.map(({ attempt, model, reason, delay_ms, usage }, index) => (
          <li key={attempt} className="flex min-w-0 gap-2.5 px-2.5 py-1.5">
            <RotateCcw aria-hidden className="mt-0.5 size-3.5 shrink-0 text-muted" strokeWidth={1.5} />
            <div className="min-w-0 flex-1">
              <p className="wrap-anywhere">{reason ? reason.message : "The server stopped during this attempt."}</p>
              <p className="flex flex-wrap gap-x-3 text-xs text-muted tabular-nums">
                <span>Attempt {attempt}</span>
                {model && (
                  <span>
                    of <code>{model}</code>, then another model was asked
                  </span>
                )}
                {reason && <code>{reason.code}</code>}
                <span>failed after {formatDuration(lengths[index] ?? null)}</span>
                {delay_ms > 0 && <span>then waited {formatDuration(delay_ms)}</span>}
                {usage && (
                  <span>
                    {formatCount(usage.output_tokens)} output tokens, {formatCost(usage.cost_usd, usage.cost_estimated)}
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
