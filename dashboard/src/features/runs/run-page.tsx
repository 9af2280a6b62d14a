import { useQuery } from "@tanstack/react-query";
import { clsx } from "clsx";
import { ApiError } from "../../lib/api.ts";
import { isOver, type Mode, type Run } from "../../lib/types.ts";
import { useTitle } from "../../lib/use-title.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { ErrorNote } from "../../ui/error-note.tsx";
import { statusWords } from "../../ui/status-pill.tsx";
import { Conversation } from "./conversation.tsx";
import { EventList } from "./event-list.tsx";
import { RunAnnouncer } from "./run-announcer.tsx";
import { RunHead } from "./run-head.tsx";
import { RunNotFound } from "./run-not-found.tsx";
import { RunPageSkeleton } from "./run-page-skeleton.tsx";
import { runQuery } from "./runs-api.ts";
import { useAgentName } from "./use-agent-name.ts";
import { useRunEvents } from "./use-run-events.ts";
import { ViewSwitch } from "./view-switch.tsx";

export type RunView = "output" | "events";

interface RunPageProps {
  id: string;
  /** The pane that a phone shows. */
  view: RunView;
  onView: (view: RunView) => void;
  /** Looks for the same run in the other mode. */
  onLookIn: (mode: Mode) => void;
}

/** One run as it happens: its events on the left, what was said and done on the right. */
export function RunPage(props: RunPageProps) {
  const found = useQuery(runQuery(useWorkspace(), props.id));
  if (found.isPending) return <RunPageSkeleton />;
  if (found.data) return <FoundRun run={found.data} stale={found.error} {...props} />;
  if (found.error instanceof ApiError && found.error.status === 404)
    return <RunNotFound id={props.id} onLookIn={props.onLookIn} />;
  return (
    <div className="p-5">
      <ErrorNote title="The run cannot be shown" error={found.error} onRetry={() => void found.refetch()} />
    </div>
  );
}

function FoundRun({ run: read, stale, view: pane, onView }: RunPageProps & { run: Run; stale: Error | null }) {
  const { view, stream } = useRunEvents(read.id, true);
  // The stream is ahead of the last read, but a run that is over stays over while its past is replayed.
  const run = isOver(read.status) || !view.status ? read : { ...read, status: view.status };
  const agent = useAgentName(run.agent_id);
  useTitle(statusWords[run.status], agent);
  return (
    <>
      <RunHead run={run} agent={agent} stream={stream} stale={stale} />
      <ViewSwitch view={pane} onView={onView} />
      <div className="flex min-h-0 flex-1">
        <div className={clsx("min-w-0 flex-1 flex-col rail:flex", pane === "events" ? "flex" : "hidden")}>
          <EventList view={view} startedAt={run.created_at} stream={stream} />
        </div>
        <div
          className={clsx(
            "min-w-0 flex-col rail:flex rail:w-100 rail:flex-none rail:border-l rail:border-line wide:w-(--detail)",
            pane === "output" ? "flex flex-1" : "hidden",
          )}
        >
          <Conversation run={run} view={view} />
        </div>
      </div>
      <RunAnnouncer run={run} />
    </>
  );
}
