import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Columns2, Download, ListChecks, RotateCw, Square, X } from "lucide-react";
import { type ReactNode, useRef, useState } from "react";
import type { AnyRun as Run } from "../../../../server/domain/api-types/run.ts";
import { isOver } from "../../../../server/domain/run-state.ts";
import { runApi, sameRun } from "../../entities/run/run-api.ts";
import { usePermission } from "../../entities/session/use-may.ts";
import { ApiError, get, post, resourceUrl } from "../../lib/api.ts";
import { downloadText } from "../../lib/download.ts";
import { fetchFull } from "../../lib/fetch-full.ts";
import { plural } from "../../lib/format.ts";
import { createPostOnce, type PostOnce } from "../../lib/post-once.ts";
import { useWorkspace, type Workspace } from "../../lib/workspace.ts";
import { ConfirmDialog } from "../../ui/dialogs/dialog.tsx";
import { toast, toastFailure } from "../../ui/feedback/toast.ts";

const act =
  "inline-flex h-(--control-sm) shrink-0 items-center gap-1.5 rounded-md px-2 text-xs font-medium whitespace-nowrap hover:bg-on-inverse/15 disabled:cursor-not-allowed disabled:opacity-50";

/** Actions for the selected runs. */
export function BulkBar({
  runs,
  onCompare,
  onPin,
  onClear,
}: {
  /** Newest first, as in the list. */
  runs: Run[];
  onCompare: (runId: string, otherId: string) => void;
  /** Adds the runs to a suite. */
  onPin: (runs: Run[]) => void;
  onClear: () => void;
}) {
  const [openKind, setOpenKind] = useState<BulkKind | null>(null);
  const mayAct = usePermission("member");
  const download = useDownload(runs);
  const open = runs.filter(({ status }) => !isOver(status));
  const [newer, older] = runs;
  return (
    <>
      <div
        role="toolbar"
        aria-label="Selected runs"
        className="enter absolute bottom-4 left-1/2 z-(--z-player) flex w-max max-w-[calc(100%-var(--space-4))] -translate-x-1/2 flex-wrap items-center justify-center gap-x-1 rounded-lg bg-inverse p-1.5 text-on-inverse shadow-3"
      >
        <span className="shrink-0 px-2 text-xs whitespace-nowrap" role="status">
          <b className="tabular-nums">{runs.length}</b> selected
        </span>
        <Act
          icon={<Square aria-hidden className="size-3.5 max-rail:hidden" strokeWidth={1.5} />}
          why={!mayAct ? "Viewers cannot cancel runs" : open.length === 0 ? "All have ended" : null}
          onClick={() => setOpenKind("cancel")}
        >
          Cancel
        </Act>
        <Act
          icon={<RotateCw aria-hidden className="size-3.5 max-rail:hidden" strokeWidth={1.5} />}
          why={mayAct ? null : "Viewers cannot start runs"}
          onClick={() => setOpenKind("again")}
        >
          Run again
        </Act>
        <Act
          icon={<Columns2 aria-hidden className="size-3.5 max-rail:hidden" strokeWidth={1.5} />}
          why={runs.length === 2 ? null : "Select two runs to compare them"}
          onClick={() => newer && older && onCompare(older.id, newer.id)}
        >
          Compare
        </Act>
        <Act
          icon={<ListChecks aria-hidden className="size-3.5 max-rail:hidden" strokeWidth={1.5} />}
          why={!mayAct ? "Viewers cannot change suites" : open.length === runs.length ? "None has ended" : null}
          onClick={() => onPin(runs)}
        >
          Add to suite
        </Act>
        <Act
          icon={<Download aria-hidden className="size-3.5 max-rail:hidden" strokeWidth={1.5} />}
          why={download.isPending ? "Downloading" : null}
          onClick={() => download.mutate()}
        >
          Download
        </Act>
        <button
          type="button"
          aria-label="Clear the selection"
          title="Clear the selection"
          className={act}
          onClick={onClear}
        >
          <X aria-hidden className="size-3.5" strokeWidth={1.5} />
        </button>
      </div>
      {openKind && (
        <BulkAct
          kind={openKind}
          runs={openKind === "cancel" ? open : runs}
          onClose={() => setOpenKind(null)}
          onDone={() => {
            setOpenKind(null);
            onClear();
          }}
        />
      )}
    </>
  );
}

/** Downloads full runs one after the other: list items lack messages and calls. */
function useDownload(runs: readonly Run[]) {
  const at = useWorkspace();
  return useMutation({
    mutationFn: async () => {
      const fullRuns: Run[] = [];
      for (const { id } of runs) fullRuns.push(await get<Run>(resourceUrl(at, `/runs/${id}`)));
      downloadText(JSON.stringify(fullRuns, null, 2), "runs.json");
    },
    onError: (error) => toastFailure("The runs were not downloaded", error.message),
  });
}

function Act({
  icon,
  why,
  onClick,
  children,
}: {
  icon: ReactNode;
  /** Reason why the action is disabled, or null. */
  why: string | null;
  onClick: () => void;
  children: ReactNode;
}) {
  return (
    <button type="button" className={act} disabled={why !== null} title={why ?? undefined} onClick={onClick}>
      {icon}
      {children}
    </button>
  );
}

type BulkKind = "cancel" | "again";

/** Result of an action on a run: done, or the run had already ended. */
type ActionResult = "done" | "ended";

const acts = {
  cancel: (at: Workspace, run: Run): Promise<ActionResult> =>
    post(resourceUrl(at, `/runs/${run.id}/cancel`)).then(
      () => "done",
      (error) => {
        if (error instanceof ApiError && error.code === "run_already_terminal") return "ended";
        throw error;
      },
    ),
  // Runs above the concurrency limit are queued instead of rejected.
  again: async (at: Workspace, run: Run, postOnce: PostOnce): Promise<ActionResult> => {
    const fullRun = await fetchFull(run, resourceUrl(at, `/runs/${run.id}`));
    await postOnce(resourceUrl(at, "/runs"), { ...sameRun(fullRun), on_concurrency_limit: "queue" }, run.id);
    return "done";
  },
};

/** Confirms before several runs are cancelled or started, then reports the results. */
function BulkAct({
  kind,
  runs: given,
  onClose,
  onDone,
}: {
  kind: BulkKind;
  /** Runs at the time of the question; later list changes do not affect it. */
  runs: Run[];
  onClose: () => void;
  onDone: () => void;
}) {
  const at = useWorkspace();
  const client = useQueryClient();
  const [runs] = useState(given);
  const [postOnce] = useState(createPostOnce);
  /** Runs that are done; a retry skips them, because their tools would act twice. */
  const completedRuns = useRef(new Map<string, ActionResult>());
  const all = useMutation({
    mutationFn: () =>
      doAll(
        runs.filter(({ id }) => !completedRuns.current.has(id)),
        async (run) => {
          completedRuns.current.set(run.id, await acts[kind](at, run, postOnce));
        },
      ),
    onSettled: () => void client.invalidateQueries(runApi.all(at)),
    onSuccess: () => {
      const endedCount = [...completedRuns.current.values()].filter((became) => became === "ended").length;
      toast(
        `${plural(runs.length - endedCount, "run")} ${kind === "cancel" ? "cancelled" : "started"}`,
        endedCount > 0 ? `${plural(endedCount, "run")} had ended before.` : undefined,
      );
      onDone();
    },
  });
  const isCancel = kind === "cancel";
  const title = titleOf(kind, runs.length);
  return (
    <ConfirmDialog
      onClose={onClose}
      title={title}
      act={title}
      keep={isCancel ? "Keep running" : undefined}
      kind={isCancel ? "danger" : "primary"}
      doing={all}
      refused={isCancel ? "Not all runs were cancelled" : "Not all runs were started"}
      onConfirm={() => all.mutate()}
    >
      <p>{isCancel ? cancelEffect : againEffect(at.mode === "live")}</p>
    </ConfirmDialog>
  );
}

function titleOf(kind: BulkKind, count: number): string {
  if (count === 1) return kind === "cancel" ? "Cancel run" : "Run again";
  return kind === "cancel" ? `Cancel ${plural(count, "run")}` : `Run ${plural(count, "run")} again`;
}

const cancelEffect =
  "Their model requests and all open tool calls stop at once. Output written so far is kept. Cancelled runs cannot be resumed.";

const againEffect = (live: boolean): string =>
  `Each input runs again with the current version of its agent. Models and tools are called again${
    live ? ": this is live data, and the tools take effect again." : "."
  } Runs above the limit are queued.`;

/** Waits for all actions, then throws the first failure. */
async function doAll(runs: Run[], act: (run: Run) => Promise<unknown>): Promise<void> {
  const outcomes = await Promise.allSettled(runs.map(act));
  const rejection = outcomes.find((each) => each.status === "rejected");
  if (rejection) throw rejection.reason;
}
