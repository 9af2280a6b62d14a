import { Link } from "@tanstack/react-router";
import { ArrowLeft, GitFork } from "lucide-react";
import type { ReactNode } from "react";
import type { TraceStep } from "../../../../server/wire/trace.ts";
import { formatCost, formatCount, formatDuration, formatElapsed } from "../../lib/format.ts";
import { useNow } from "../../lib/use-now.ts";
import { Button } from "../../ui/button.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { StepIcon } from "../../ui/step-icon.tsx";
import { MarkPill } from "./mark-pill.tsx";
import { type Row, rowMarkWord } from "./rows.ts";
import { typeWord } from "./step-words.ts";

/** Which step is shown, its facts, and what can be done from it. */
export function DetailHead({ row, onBack, onFork }: { row: Row; onBack: () => void; onFork: (() => void) | null }) {
  return (
    <header className="flex shrink-0 flex-col gap-1 px-4 pt-3 pb-2 rail:px-5">
      <div className="flex min-h-(--control-sm) min-w-0 items-start gap-2">
        <Button
          kind="ghost"
          size="icon-sm"
          className="-ml-1 rail:hidden"
          aria-label="Back to the steps"
          onClick={onBack}
        >
          <ArrowLeft aria-hidden className="size-4" strokeWidth={1.5} />
        </Button>
        <span className="mt-0.5">
          <StepIcon type={row.type} />
        </span>
        <h2 className="min-w-0 flex-1 leading-(--leading-lg) wrap-anywhere">
          {row.kind === "run" ? "Run" : row.name}{" "}
          <span className="ml-1 inline-flex align-middle">
            <MarkPill mark={row.mark} word={rowMarkWord(row)} />
          </span>
        </h2>
        {onFork && (
          <Button size="sm" onClick={onFork} data-fork title="Fork from here (f)">
            <GitFork aria-hidden className="size-3.5" strokeWidth={1.5} />
            Fork from here
          </Button>
        )}
      </div>
      {row.step && <StepFacts row={row} step={row.step} />}
      {row.kind === "restart" && (
        <dl className="text-xs">
          <Fact name="Since start">{row.sub}</Fact>
        </dl>
      )}
    </header>
  );
}

function StepFacts({ row, step }: { row: Row; step: TraceStep }) {
  const { usage, model, subagent, tool_call_id, finish_reason } = step;
  const waited = row.waits.reduce((sum, { from, to }) => sum + to - from, 0);
  return (
    <dl className="flex min-w-0 flex-wrap gap-x-3.5 gap-y-0.5 text-xs">
      <Fact name={typeWord(step.type)}>step {step.step_index}</Fact>
      {model && model !== row.name && <Fact name="Model">{model}</Fact>}
      <Fact name="Took">
        <Took row={row} step={step} />
      </Fact>
      {waited > 0 && Number.isFinite(waited) && <Fact name="Waited">{formatDuration(waited)}</Fact>}
      {step.time_to_first_token_ms !== null && (
        <Fact name="First token">{formatDuration(step.time_to_first_token_ms)}</Fact>
      )}
      {usage && (
        <>
          <Fact name="Tokens">
            {formatCount(usage.input_tokens)} in · {formatCount(usage.output_tokens)} out
            {usage.cached_input_tokens ? ` · ${formatCount(usage.cached_input_tokens)} cached` : ""}
            {usage.reasoning_tokens ? ` · ${formatCount(usage.reasoning_tokens)} reasoning` : ""}
          </Fact>
          <Fact name="Cost">
            {usage.estimated && "about "}
            {formatCost(usage.cost_usd)}
          </Fact>
        </>
      )}
      {(step.attempt > 1 || step.retries.length > 0) && <Fact name="Attempts">{step.attempt}</Fact>}
      {finish_reason && !["stop", "tool_calls"].includes(finish_reason) && (
        <Fact name="Ended by">{finish_reason.replaceAll("_", " ")}</Fact>
      )}
      {step.replayed && <Fact name="Recorded">nothing was called</Fact>}
      {subagent && (
        <Fact name="Run">
          <Link
            to="/runs/$runId"
            params={{ runId: subagent.run_id }}
            className="cut text-accent hover:underline"
            title={subagent.run_id}
          >
            open the agent’s run
          </Link>
        </Fact>
      )}
      {tool_call_id && (
        <Fact name="Call">
          <code className="cut" title={tool_call_id}>
            {tool_call_id}
          </code>
          <CopyButton text={tool_call_id} what="call id" />
        </Fact>
      )}
    </dl>
  );
}

function Took({ row, step }: { row: Row; step: TraceStep }) {
  const grows = row.end === null;
  const now = useNow(grows);
  if (!grows) return formatDuration(step.latency_ms ?? (row.end ?? row.start) - row.start);
  const since = row.waits.at(-1)?.from ?? row.start;
  return `${formatElapsed(Math.max(0, now - since))}, still ${row.mark === "running" ? "working" : "waiting"}`;
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="flex min-h-5 max-w-full min-w-0 items-center gap-1.5">
      <dt className="shrink-0 text-muted">{name}</dt>
      <dd className="flex min-w-0 items-center gap-0.5 font-medium tabular-nums wrap-anywhere">{children}</dd>
    </div>
  );
}
