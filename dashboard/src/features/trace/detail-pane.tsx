import { memo, type ReactNode } from "react";
import { type RunView, seqOf, textOfStep } from "../../../../server/wire/fold-frames.ts";
import type { AnyRun as Run } from "../../../../server/wire/run.ts";
import type { TraceStep } from "../../../../server/wire/trace.ts";
import type { LoadedTrace } from "../../entities/run/trace-types.ts";
import { Skeleton } from "../../ui/skeleton.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { Conversation } from "./conversation.tsx";
import { DetailHead } from "./detail-head.tsx";
import { EventsPanel } from "./events-panel.tsx";
import { MessagesPanel } from "./messages-panel.tsx";
import { OutputPanel } from "./output-panel.tsx";
import { RawPanel } from "./raw-panel.tsx";
import { RowContext } from "./row-context.ts";
import type { Row } from "./rows.ts";
import { RunOutput } from "./run-output.tsx";
import { type TraceTab, tabOf, tabsOf, tabWords } from "./tabs-of.ts";
import { Value } from "./value.tsx";
import { WaitingCalls } from "./waiting-calls.tsx";

interface DetailPaneProps {
  /** Undefined while the step is on its way. */
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

/** The chosen step: what went in, what came out, and everything else that is known of it. */
export const DetailPane = memo(function DetailPane(props: DetailPaneProps) {
  const { row, tab, onTab, onBack, onFork } = props;
  if (!row) return <DetailSkeleton />;
  const shown = tabOf(row, tab);
  const canFork = row.level === 2 && row.kind === "step" && row.step !== null && row.end !== null;
  return (
    <>
      <DetailHead row={row} onBack={onBack} onFork={canFork ? onFork : null} />
      <Tabs
        label="Step"
        value={shown}
        tabs={tabsOf(row).map((value) => ({ value, label: tabWords[value] }))}
        onChange={onTab}
      >
        {/* Another step begins at its top. */}
        <div key={`${row.key} ${shown}`} className="flex min-h-0 flex-1 flex-col gap-3 overflow-y-auto p-4 rail:px-5">
          <RowContext value={row}>
            <Panel {...props} row={row} tab={shown} />
          </RowContext>
        </div>
      </Tabs>
    </>
  );
});

function Panel({ row, tab, run, loaded, live, onSelect }: DetailPaneProps & { row: Row; tab: TraceTab }): ReactNode {
  if (row.kind === "run") {
    if (tab === "messages") return <Conversation run={run} steps={loaded.steps} live={live} onSelect={onSelect} />;
    if (tab === "events") return <EventsPanel runId={run.id} startedAt={loaded.trace.started_at} seq={seqOf(live)} />;
    if (tab === "raw") return <RunRaw run={run} />;
    return <RunOutput run={run} loaded={loaded} live={live} onSelect={onSelect} />;
  }
  const { step } = row;
  if (!step) return <Restart row={row} />;
  const text = row.level === 2 ? textOfStep(live, step.step_index) : undefined;
  if (tab === "raw") return <RawPanel row={row} step={step} />;
  if (tab === "messages") return <MessagesPanel row={row} step={step} live={text} />;
  if (tab === "arguments")
    return (
      <>
        <Value title="Arguments" name={step.name} value={step.input} />
        <WaitingCalls runId={run.id} calls={callsOf(run, step)} />
      </>
    );
  const calls = callsOf(run, step);
  return (
    <>
      <WaitingCalls runId={run.id} calls={calls} />
      <OutputPanel step={step} live={text} ended={endedBy(run, row)} waits={calls.length > 0} />
    </>
  );
}

/** The error that a step ended its run with; null where it did not. */
function endedBy(run: Run, { level, step }: Row): Run["error"] {
  return level === 2 && run.status === "failed" && run.error?.step_index === step?.step_index ? run.error : null;
}

/** What a step waits for: its own call, or calls of the run below it. */
function callsOf(run: Run, { tool_call_id, subagent }: TraceStep) {
  const calls = run.required_action?.submit_tool_outputs.tool_calls ?? [];
  return calls.filter(({ id, run_id }) => id === tool_call_id || (subagent !== null && run_id === subagent.run_id));
}

function Restart({ row }: { row: Row }) {
  return (
    <p className="max-w-(--read) text-md">
      The server stopped while this run was under way and started again: {row.sub}. What was completed by then was kept,
      and the run went on from there. Nothing that is recorded was done twice.
    </p>
  );
}

/** Without what the steps show anyway: of a long run that would be megabytes. */
function RunRaw({ run }: { run: Run }) {
  const { messages: _messages, tool_calls: _calls, ...facts } = run as Run & { messages?: unknown };
  return <Value title="As the API gives it, without messages and calls" name={run.id} value={facts} />;
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
