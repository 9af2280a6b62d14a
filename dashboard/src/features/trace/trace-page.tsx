import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useEffect } from "react";
import type { AnyRun as Run } from "../../../../server/domain/api-types/run.ts";
import { emptyRunView } from "../../../../server/domain/api-types/run-view.ts";
import { isOver, type RunStatus } from "../../../../server/domain/run-state.ts";
import type { Environment as Mode } from "../../../../server/domain/scope.ts";
import { useAgentName } from "../../entities/agent/use-agent-name.ts";
import { ObjectNotFound } from "../../entities/crud/object-page.tsx";
import { runQuery } from "../../entities/run/run-api.ts";
import { traceQuery } from "../../entities/run/trace-api.ts";
import { useTitle } from "../../hooks/use-title.ts";
import { isNotFound } from "../../lib/api.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Breadcrumb } from "../../ui/data/breadcrumb.tsx";
import { ModePill } from "../../ui/data/mode-pill.tsx";
import { statusWords } from "../../ui/data/status-pill.tsx";
import type { MenuParts } from "../../ui/dialogs/menu-parts.tsx";
import { SheetHead } from "../../ui/dialogs/sheet.tsx";
import { Callout } from "../../ui/feedback/callout.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { Skeleton } from "../../ui/feedback/skeleton.tsx";
import { FoundTrace, type TraceView } from "./found-trace.tsx";
import { RunOutput } from "./run-output.tsx";
import { TraceHead } from "./trace-head.tsx";
import { TraceMenu } from "./trace-menu.tsx";

interface TracePageProps extends TraceView {
  id: string;
  /** Looks up the same run in the other mode. */
  onLookIn: (mode: Mode) => void;
  onLeave: () => void;
  /** More entries of the menu. */
  acts?: (run: Run, parts: MenuParts) => ReactNode;
  /** More buttons of the head. */
  buttons?: (run: Run) => ReactNode;
}

/** Page of one run: status, steps over time and their details. */
export function TracePage(props: TracePageProps) {
  const found = useQuery(runQuery(useWorkspace(), props.id));
  const trace = useTrace(props.id, found.data?.status); // Both requests run in parallel.
  if (isNotFound(found.error))
    return <ObjectNotFound noun="run" id={props.id} list="/runs" onLookIn={props.onLookIn} />;
  if (found.data) return <FoundRun run={found.data} trace={trace} stale={found.error} {...props} />;
  if (found.isPending) return <TraceSkeleton />;
  return (
    <>
      <SheetHead>
        <Breadcrumb>
          <Link to="/runs">Runs</Link>
        </Breadcrumb>
        <h1 className="text-lg">Run</h1>
        <ModePill />
      </SheetHead>
      <div className="p-5">
        <ErrorNote title="The run cannot be shown" error={found.error} onRetry={() => void found.refetch()} />
      </div>
    </>
  );
}

interface FoundRunProps extends TracePageProps {
  run: Run;
  trace: ReturnType<typeof useTrace>;
  stale: Error | null;
}

function FoundRun({ run, trace, stale, ...props }: FoundRunProps) {
  const agent = useAgentName(run.agent_id);
  useTitle(statusWords[run.status], agent);
  const { acts, buttons, fork, onOpenRun, onLeave } = props;
  const menu = (
    <TraceMenu
      run={run}
      agent={agent}
      acts={acts && ((parts) => acts(run, parts))}
      buttons={buttons?.(run)}
      canFork={fork !== undefined && trace.data !== undefined}
      onOpenRun={onOpenRun}
      onLeave={onLeave}
    />
  );
  if (trace.data && !isNotFound(trace.error))
    return (
      <FoundTrace {...props} run={run} loaded={trace.data} agent={agent} stale={stale ?? trace.error} menu={menu} />
    );
  const head = <TraceHead run={run} agent={agent} stream="ended" stale={stale} menu={menu} />;
  if (isNotFound(trace.error))
    return (
      <>
        {head}
        <TraceGone run={run} />
      </>
    );
  if (!trace.error) return <TraceSkeleton />;
  return (
    <>
      {head}
      <div className="p-5">
        <ErrorNote title="The trace cannot be shown" error={trace.error} onRetry={() => void trace.refetch()} />
      </div>
    </>
  );
}

/** A run whose trace was deleted: input, output and facts remain. */
function TraceGone({ run }: { run: Run }) {
  return (
    <section aria-label="Output" className="flex min-h-0 flex-1 flex-col gap-4 overflow-y-auto p-4 rail:p-5">
      <h2 className="sr-only">Remaining data</h2>
      <Callout tone="info">
        <b>The trace of this run was deleted</b>
        <p className="text-muted">
          Its steps and events were deleted by a person or by retention. Input, output and usage are kept.
        </p>
      </Callout>
      <RunOutput run={run} loaded={null} live={emptyRunView} onSelect={() => {}} />
    </section>
  );
}

/** Placeholder with the size of a run's page. */
function TraceSkeleton() {
  return (
    <div role="status" aria-label="Loading the run">
      <SheetHead>
        <Skeleton className="h-4 w-40" />
        <Skeleton className="h-5 w-20" />
        <div className="flex h-6 basis-full items-center gap-5">
          <Skeleton className="w-52" />
          <Skeleton className="w-24" />
          <Skeleton className="w-20" />
        </div>
      </SheetHead>
      {["w-1/2", "w-2/5", "w-3/5", "w-1/3"].map((width) => (
        <div key={width} className="flex h-(--row-dense) items-center px-5">
          <Skeleton className={width} />
        </div>
      ))}
    </div>
  );
}

/**
 * A run's trace. Pages of a long one are shown as they load. After the run ends, the trace is refetched once more for
 * its last steps.
 */
function useTrace(id: string, status: RunStatus | undefined) {
  const found = useQuery(traceQuery(useWorkspace(), id));
  const { data, error, isFetching, refetch } = found;
  const isBehind = data && status && isOver(status) && !isOver(data.trace.status);
  const readOn = (data?.hasMore || isBehind) && !isFetching && !error;
  useEffect(() => {
    if (readOn) void refetch();
  }, [readOn, refetch]);
  return found;
}
