import { Code2, Copy, Download, GitFork, Link2, MoreHorizontal, Package, Play, Trash2 } from "lucide-react";
import { type ReactNode, useState } from "react";
import type { AnyRun as Run } from "../../../../server/domain/api-types/run.ts";
import type { Trace as TracePage } from "../../../../server/domain/api-types/trace.ts";
import { isOver } from "../../../../server/domain/run-state.ts";
import { traceUrl } from "../../entities/run/trace-api.ts";
import { usePermission } from "../../entities/session/use-may.ts";
import { get, resourceUrl } from "../../lib/api.ts";
import { downloadText, downloadUrl } from "../../lib/download.ts";
import { useWorkspace, type Workspace } from "../../lib/workspace.ts";
import { copy } from "../../ui/data/copy.ts";
import { Menu } from "../../ui/dialogs/menu.tsx";
import type { MenuParts } from "../../ui/dialogs/menu-parts.tsx";
import { toast, toastFailure } from "../../ui/feedback/toast.ts";
import { Button, buttonClass } from "../../ui/forms/button.tsx";
import { DeleteRun, RunAgain } from "./run-acts.tsx";

const icon = { "aria-hidden": true, className: "size-4", strokeWidth: 1.5 } as const;

/** Menu of a run's actions. */
export function TraceMenu({
  run,
  agent,
  acts,
  buttons,
  canFork,
  onOpenRun,
  onLeave,
}: {
  run: Run;
  agent: string;
  /** More entries above the downloads. */
  acts?: (parts: MenuParts) => ReactNode;
  /** More buttons beside the menu, if there is room. */
  buttons?: ReactNode;
  canFork: boolean;
  onOpenRun: (runId: string) => void;
  /** Called after the run was deleted. */
  onLeave: () => void;
}) {
  const at = useWorkspace();
  const may = usePermission("member");
  const [asking, setAsking] = useState<"again" | "delete" | null>(null);
  const trigger = (
    <button type="button" aria-label="More actions" className={buttonClass({ size: "icon" })}>
      <MoreHorizontal {...icon} />
    </button>
  );
  const copyId = () => void copy("Run id", run.id);
  const share = () => void copy("Link", location.href);
  const save = (pendingDownload: Promise<void>) =>
    void pendingDownload.catch((error: Error) => toastFailure("The trace was not downloaded", error.message));
  return (
    <>
      <span className="hidden items-center gap-2 full:flex">
        {may && isOver(run.status) && (
          <Button onClick={() => setAsking("again")}>
            <Play {...icon} />
            Run again
          </Button>
        )}
        {canFork && (
          <Button onClick={forkChosen}>
            <GitFork {...icon} />
            Fork
          </Button>
        )}
        {isOver(run.status) && buttons}
        <Button onClick={share} title="Copies a link to this view">
          <Link2 {...icon} />
          Share
        </Button>
      </span>
      <Menu trigger={trigger} align="end">
        {(parts) => {
          const { MenuItem, MenuLine } = parts;
          return (
            <>
              {may && (
                <MenuItem onClick={() => setAsking("again")}>
                  <Play {...icon} />
                  Run again…
                </MenuItem>
              )}
              {acts?.(parts)}
              <MenuItem onClick={share}>
                <Link2 {...icon} />
                Copy link
              </MenuItem>
              <MenuItem onClick={copyId}>
                <Copy {...icon} />
                Copy run id
              </MenuItem>
              {run.trace_id !== null && (
                <>
                  <MenuLine />
                  <MenuItem onClick={() => save(downloadTrace(at, run.id))}>
                    <Download {...icon} />
                    Download trace, JSON
                  </MenuItem>
                  <MenuItem onClick={() => downloadOtlp(at, run.id)}>
                    <Code2 {...icon} />
                    Download trace, OpenTelemetry
                  </MenuItem>
                  {isOver(run.status) && (
                    <MenuItem onClick={() => downloadCapsule(at, run.id)}>
                      <Package {...icon} />
                      Download capsule, for another runnel
                    </MenuItem>
                  )}
                </>
              )}
              {may && isOver(run.status) && (
                <>
                  <MenuLine />
                  <MenuItem onClick={() => setAsking("delete")}>
                    <Trash2 {...icon} />
                    Delete run…
                  </MenuItem>
                </>
              )}
            </>
          );
        }}
      </Menu>
      {asking === "again" && <RunAgain run={run} agent={agent} onClose={() => setAsking(null)} onStarted={onOpenRun} />}
      {asking === "delete" && <DeleteRun run={run} onClose={() => setAsking(null)} onDeleted={onLeave} />}
    </>
  );
}

/** Opens the fork form of the selected step; without one, shows a hint. */
function forkChosen(): void {
  const fork = document.querySelector<HTMLElement>("[data-fork]");
  if (fork) fork.click();
  else toast("Choose a step", "Choose the step to fork from.");
}

/** Downloads the whole trace with journal entries, in the format of an import. */
async function downloadTrace(at: Workspace, runId: string): Promise<void> {
  const values = { limit: 100, include: "raw" };
  const first = await get<TracePage>(traceUrl(at, runId, values));
  const steps = [...first.steps];
  for (let more = first.steps_has_more; more; ) {
    const page = await get<TracePage>(traceUrl(at, runId, { ...values, starting_after: steps.at(-1)?.id }));
    steps.push(...page.steps);
    more = page.steps_has_more;
  }
  downloadText(JSON.stringify({ ...first, steps, steps_has_more: false }, null, 2), `${runId}.trace.json`);
}

/** Downloads the trace in OpenTelemetry format. */
const downloadOtlp = (at: Workspace, runId: string): void =>
  downloadUrl(traceUrl(at, runId, { format: "otlp" }), `${runId}.otlp.json`);

/** Downloads a capsule, which another server can show, replay and fork. */
const downloadCapsule = (at: Workspace, runId: string): void =>
  downloadUrl(resourceUrl(at, `/runs/${encodeURIComponent(runId)}/capsule`), `${runId}.capsule.sqlite3`);
