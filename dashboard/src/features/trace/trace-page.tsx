import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Environment as Mode } from "../../../../server/core/scope.ts";
import type { AnyRun as Run } from "../../../../server/wire/run.ts";
import { useAgentName } from "../../entities/agent/use-agent-name.ts";
import { runQuery } from "../../entities/run/run-api.ts";
import { isMissing } from "../../lib/api.ts";
import { useTitle } from "../../lib/use-title.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Breadcrumb } from "../../ui/breadcrumb.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import type { MenuParts } from "../../ui/menu-parts.tsx";
import { ModePill } from "../../ui/mode-pill.tsx";
import { SheetHead } from "../../ui/sheet.tsx";
import { statusWords } from "../../ui/status-pill.tsx";
import { FoundTrace, type TraceView } from "./found-trace.tsx";
import { RunNotFound } from "./run-not-found.tsx";
import { TraceGone } from "./trace-gone.tsx";
import { TraceHead } from "./trace-head.tsx";
import { TraceMenu } from "./trace-menu.tsx";
import { TraceSkeleton } from "./trace-skeleton.tsx";
import { useTrace } from "./use-trace.ts";

interface TracePageProps extends TraceView {
  id: string;
  /** Looks for the same run in the other mode. */
  onLookIn: (mode: Mode) => void;
  onLeave: () => void;
  /** More entries of the menu. */
  acts?: (run: Run, parts: MenuParts) => ReactNode;
}

/** One run: how it stands, all of its steps in time, and what is known of each. */
export function TracePage(props: TracePageProps) {
  const found = useQuery(runQuery(useWorkspace(), props.id));
  const trace = useTrace(props.id, found.data?.status); // Both are on their way at once.
  if (isMissing(found.error)) return <RunNotFound id={props.id} onLookIn={props.onLookIn} />;
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
  const { acts, onOpenRun, onLeave } = props;
  const menu = (
    <TraceMenu
      run={run}
      agent={agent}
      acts={acts && ((parts) => acts(run, parts))}
      onOpenRun={onOpenRun}
      onLeave={onLeave}
    />
  );
  if (trace.data && !isMissing(trace.error))
    return (
      <FoundTrace {...props} run={run} loaded={trace.data} agent={agent} stale={stale ?? trace.error} menu={menu} />
    );
  const head = (
    <TraceHead
      run={run}
      agent={agent}
      spent={{ worked_ms: null, waited_ms: null }}
      stream="ended"
      stale={stale}
      menu={menu}
    />
  );
  if (isMissing(trace.error))
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
