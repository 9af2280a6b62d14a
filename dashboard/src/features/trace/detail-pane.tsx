import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ArrowLeft, GitFork } from "lucide-react";
import { memo, type ReactNode } from "react";
import type { AnyRun as Run } from "../../../../server/domain/api-types/run.ts";
import { type RunView, seqOf, textOfStep } from "../../../../server/domain/api-types/run-view.ts";
import type { TraceStep } from "../../../../server/domain/api-types/trace.ts";
import { SentRequest } from "../../entities/run/sent-request.tsx";
import { type LoadedTrace, stepQuery } from "../../entities/run/trace-api.ts";
import { ConsentCards } from "../../entities/tool-call/consent-card.tsx";
import { useNow } from "../../hooks/use-now.ts";
import { formatCost, formatCount, formatDuration, formatElapsed } from "../../lib/format.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { CopyButton } from "../../ui/data/copy-button.tsx";
import { StepIcon } from "../../ui/data/step-icon.tsx";
import { Tabs } from "../../ui/data/tabs.tsx";
import { Value } from "../../ui/data/value.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { Skeleton } from "../../ui/feedback/skeleton.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { Conversation } from "./conversation.tsx";
import { EventsPanel } from "./events-panel.tsx";
import { MarkPill } from "./mark-pill.tsx";
import { MessagesPanel } from "./messages-panel.tsx";
import { OutputPanel } from "./output-panel.tsx";
import { type TraceTab, tabOf, tabsOf, tabWords } from "./read-trace-search.ts";
import { RowContext } from "./replay-context.ts";
import type { Row } from "./row.ts";
import { rowMarkWord } from "./rows.ts";
import { RunOutput, WaitingCalls, WaitingMessages } from "./run-output.tsx";
import { waitingMessages } from "./steered-messages.tsx";
import { StepProgress } from "./step-progress.tsx";
import { typeWord } from "./step-words.ts";

interface DetailPaneProps {
  /** Undefined while the step is loading. */
  row: Row | undefined;
  run: Run;
  loaded: LoadedTrace;
  live: RunView;
  tab: TraceTab | undefined;
  onTab: (tab: TraceTab) => void;
  onSelect: (key: string) => void;
  onBack: () => void;
  onFork: (() => void) | null;
}

/** Details of the selected step. */
export const DetailPane = memo(function DetailPane(props: DetailPaneProps) {
  const { row, tab, onTab, onBack, onFork } = props;
  if (!row) return <DetailSkeleton />;
  const activeTab = tabOf(row, tab);
  const canFork = row.level === 2 && row.kind === "step" && row.step !== null && row.end !== null;
  return (
    <>
      <DetailHead row={row} onBack={onBack} onFork={canFork ? onFork : null} />
      <Tabs
        label="Step"
        value={activeTab}
        tabs={tabsOf(row).map((value) => ({ value, label: tabWords[value] }))}
        onChange={onTab}
      >
        {/* The key resets the scroll position when another step is selected. */}
        <div
          key={`${row.key} ${activeTab}`}
          className="flex min-h-0 flex-1 flex-col gap-3 overflow-y-auto p-4 rail:px-5"
        >
          <RowContext value={row}>
            <Panel {...props} row={row} tab={activeTab} />
          </RowContext>
        </div>
      </Tabs>
    </>
  );
});

function Panel({ row, tab, run, loaded, live, onSelect }: DetailPaneProps & { row: Row; tab: TraceTab }): ReactNode {
  if (row.kind === "run") {
    if (tab === "messages")
      return <Conversation run={run} agent={row.name} steps={loaded.steps} live={live} onSelect={onSelect} />;
    if (tab === "events") return <EventsPanel runId={run.id} startedAt={loaded.trace.started_at} seq={seqOf(live)} />;
    if (tab === "raw") return <RunRaw run={run} />;
    return <RunOutput run={run} loaded={loaded} live={live} onSelect={onSelect} />;
  }
  const { step } = row;
  if (!step) return <Restart row={row} />;
  const text = row.level === 2 ? textOfStep(live, step.step_index) : undefined;
  if (tab === "raw") return <RawPanel row={row} step={step} />;
  if (tab === "messages") return <MessagesPanel step={step} agent={row.agent} live={text} />;
  if (tab === "request") return <SentRequest runId={row.runId} step={step} before={row.before} />;
  const progress = <StepProgress step={step} live={row.level === 2 ? live : null} />;
  if (tab === "arguments")
    return (
      <>
        <Value title="Arguments" name={step.name} value={step.input} />
        {progress}
        <WaitingCalls runId={run.id} calls={callsOf(run, step)} />
      </>
    );
  const calls = callsOf(run, step);
  return (
    <>
      <WaitingCalls runId={run.id} calls={calls} />
      <ConsentCards authorizations={consentsOf(run, step)} />
      {progress}
      <OutputPanel step={step} live={text} ended={endedBy(run, row)} waits={calls.length > 0} />
      {calls.length > 0 && <WaitingMessages messages={waitingMessages(run, loaded.steps, live)} />}
    </>
  );
}

/** Returns the run's error if this step caused it, otherwise null. */
function endedBy(run: Run, { level, step }: Row): Run["error"] {
  return level === 2 && run.status === "failed" && run.error?.step_index === step?.step_index ? run.error : null;
}

/** Pending calls of a step: its own, or those of the subagent's run below it. */
function callsOf(run: Run, { tool_call_id, subagent }: TraceStep) {
  const calls = run.required_action?.submit_tool_outputs.tool_calls ?? [];
  return calls.filter(
    ({ tool_call_id: id, run_id }) => id === tool_call_id || (subagent !== null && run_id === subagent.run_id),
  );
}

/** Consents that a step waits for. */
function consentsOf(run: Run, { tool_call_id, subagent }: TraceStep) {
  return run.required_action?.authorizations?.filter(({ tool_calls }) =>
    tool_calls.some(
      ({ tool_call_id: id, run_id }) => id === tool_call_id || (subagent !== null && run_id === subagent.run_id),
    ),
  );
}

function Restart({ row }: { row: Row }) {
  return (
    <p className="max-w-(--read) text-md">
      The server restarted during this run: {row.sub}. Completed steps were kept and the run continued from there. No
      recorded step ran twice.
    </p>
  );
}

/** The run without messages and calls: steps show them, and in a long run they are megabytes. */
function RunRaw({ run }: { run: Run }) {
  const { messages: _messages, tool_calls: _calls, ...facts } = run as Run & { messages?: unknown };
  return <Value title="As returned by the API, without messages and calls" name={run.id} value={facts} />;
}

function DetailSkeleton() {
  return (
    <div role="status" aria-label="Loading the step" className="flex flex-col gap-4 p-4">
      <Skeleton className="h-4 w-1/2" />
      <Skeleton className="w-2/3" />
      <Skeleton className="w-1/3" />
    </div>
  );
}

/** Head of the details: name, facts and actions of the step. */
function DetailHead({ row, onBack, onFork }: { row: Row; onBack: () => void; onFork: (() => void) | null }) {
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

type TokenCounts = NonNullable<TraceStep["usage"]>;

function StepFacts({ row, step }: { row: Row; step: TraceStep }) {
  const { usage, model, subagent, tool_call_id, finish_reason } = step;
  const waited = row.waits.reduce((sum, { from, to }) => sum + to - from, 0);
  return (
    <dl className="flex min-w-0 flex-wrap gap-x-3.5 gap-y-0.5 text-xs">
      <Fact name={typeWord(step.type)}>step {step.step_index}</Fact>
      {row.agent && <Fact name="Agent">{row.agent}</Fact>}
      {step.handoff && <Fact name="Tool">{step.name}</Fact>}
      {model && model !== row.name && <Fact name="Model">{model}</Fact>}
      <Fact name="Duration">
        <Took row={row} step={step} />
      </Fact>
      {waited > 0 && Number.isFinite(waited) && <Fact name="Waited">{formatDuration(waited)}</Fact>}
      {step.time_to_first_token_ms !== null && (
        <Fact name="Time to first token">{formatDuration(step.time_to_first_token_ms)}</Fact>
      )}
      {usage && (
        <>
          <Fact name="Tokens">
            {formatCount(usage.input_tokens)} in · {formatCount(usage.output_tokens)} out
            {usage.cached_input_tokens ? ` · ${formatCount(usage.cached_input_tokens)} cached` : ""}
            {writtenTokens(usage) > 0 && ` · ${formatCount(writtenTokens(usage))} written to the cache`}
            {usage.reasoning_tokens ? ` · ${formatCount(usage.reasoning_tokens)} reasoning` : ""}
          </Fact>
          <Fact name="Cost">
            {usage.estimated && "about "}
            {formatCost(usage.cost_usd, usage.cost_estimated)}
          </Fact>
        </>
      )}
      {(step.attempt > 1 || step.retries.length > 0) && <Fact name="Attempts">{step.attempt}</Fact>}
      {step.retries.map(
        ({ attempt, model, reason }) =>
          model && (
            <Fact key={attempt} name="Instead of">
              <span>
                <code>{model}</code>
                {reason && `: ${reason.message}`}
              </span>
            </Fact>
          ),
      )}
      {finish_reason && !["stop", "tool_calls"].includes(finish_reason) && (
        <Fact name="Finish reason">{finish_reason.replaceAll("_", " ")}</Fact>
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
            open the agent's run
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

const writtenTokens = ({ cache_write_5m_tokens: short, cache_write_1h_tokens: long }: TokenCounts): number =>
  (short ?? 0) + (long ?? 0);

function Took({ row, step }: { row: Row; step: TraceStep }) {
  const grows = row.end === null;
  const now = useNow(grows);
  if (!grows) return formatDuration(step.latency_ms ?? (row.end ?? row.start) - row.start);
  const since = row.waits.at(-1)?.from ?? row.start;
  return `${formatElapsed(Math.max(0, now - since))}, still ${row.mark === "running" ? "working" : "waiting"}`;
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="flex min-h-5 max-w-full min-w-0 items-baseline gap-1.5">
      <dt className="shrink-0 text-muted">{name}</dt>
      <dd className="flex min-w-0 items-center gap-0.5 font-medium tabular-nums wrap-anywhere">{children}</dd>
    </div>
  );
}

/** A step as the API returns it, and its journal entries. */
function RawPanel({ row, step }: { row: Row; step: TraceStep }) {
  const at = useWorkspace();
  const stepEvents = useQuery(stepQuery(at, row.runId, step, row.before, "raw"));
  return (
    <>
      <Value title="As returned by the API" name={step.id} value={step} />
      {stepEvents.isPending && <Skeleton className="w-1/2" />}
      {stepEvents.error && (
        <ErrorNote
          title="The journal cannot be shown"
          error={stepEvents.error}
          onRetry={() => void stepEvents.refetch()}
        />
      )}
      {stepEvents.data?.raw && (
        <Value title="As recorded in the journal" name={`${step.id} journal`} value={stepEvents.data.raw} />
      )}
    </>
  );
}
