import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Columns2, Download, ListChecks, RotateCw, Square, X } from "lucide-react";
import { type ReactNode, useRef, useState } from "react";
import { isOver } from "../../../../server/core/run-state.ts";
import type { AnyRun as Run } from "../../../../server/wire/run.ts";
import { runApi, sameRun } from "../../entities/run/run-api.ts";
import { useMay } from "../../entities/session/use-may.ts";
import { ApiError, get, post, resourceUrl } from "../../lib/api.ts";
import { downloadText } from "../../lib/download.ts";
import { plural } from "../../lib/format.ts";
import { createPostOnce, type PostOnce } from "../../lib/post-once.ts";
import { wholeOf } from "../../lib/whole-of.ts";
import { useWorkspace, type Workspace } from "../../lib/workspace.ts";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { failed, toast } from "../../ui/toast.ts";

const act =
  "inline-flex h-(--control-sm) shrink-0 items-center gap-1.5 rounded-md px-2 text-xs font-medium whitespace-nowrap hover:bg-on-inverse/15 disabled:cursor-not-allowed disabled:opacity-50";

/** What can be done with the selected runs. */
export function BulkBar({
  runs,
  onCompare,
  onPin,
  onClear,
}: {
  /** In the order of the list: the newest first. */
  runs: Run[];
  onCompare: (runId: string, otherId: string) => void;
  /** Puts them into a suite. */
  onPin: (runs: Run[]) => void;
  onClear: () => void;
}) {
  const [asks, setAsks] = useState<BulkKind | null>(null);
  const mayAct = useMay("member");
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
          onClick={() => setAsks("cancel")}
        >
          Cancel
        </Act>
        <Act
          icon={<RotateCw aria-hidden className="size-3.5 max-rail:hidden" strokeWidth={1.5} />}
          why={mayAct ? null : "Viewers cannot start runs"}
          onClick={() => setAsks("again")}
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
      {asks && (
        <BulkAct
          kind={asks}
          runs={asks === "cancel" ? open : runs}
          onClose={() => setAsks(null)}
          onDone={() => {
            setAsks(null);
            onClear();
          }}
        />
      )}
    </>
  );
}

/** Saves runs whole: one after the other, since a list has neither their messages nor their calls. */
function useDownload(runs: readonly Run[]) {
  const at = useWorkspace();
  return useMutation({
    mutationFn: async () => {
      const whole: Run[] = [];
      for (const { id } of runs) whole.push(await get<Run>(resourceUrl(at, `/runs/${id}`)));
      downloadText(JSON.stringify(whole, null, 2), "runs.json");
    },
    onError: (error) => failed("The runs were not downloaded", error.message),
  });
}

function Act({
  icon,
  why,
  onClick,
  children,
}: {
  icon: ReactNode;
  /** Why it cannot be done, or null. */
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

/** What became of a run: it was acted upon, or it had ended by itself before. */
type Became = "done" | "ended";

const acts = {
  cancel: (at: Workspace, run: Run): Promise<Became> =>
    post(resourceUrl(at, `/runs/${run.id}/cancel`)).then(
      () => "done",
      (error) => {
        if (error instanceof ApiError && error.code === "run_already_terminal") return "ended";
        throw error;
      },
    ),
  // More than may work at once begin one after the other, instead of being refused.
  again: async (at: Workspace, run: Run, postOnce: PostOnce): Promise<Became> => {
    const whole = await wholeOf(run, resourceUrl(at, `/runs/${run.id}`));
    await postOnce(resourceUrl(at, "/runs"), { ...sameRun(whole), on_concurrency_limit: "queue" }, run.id);
    return "done";
  },
};

/** Asks before several runs are cancelled or started, and says what became of it. */
function BulkAct({
  kind,
  runs: given,
  onClose,
  onDone,
}: {
  kind: BulkKind;
  /** As they are when it is asked: those that come or go meanwhile change nothing at the question. */
  runs: Run[];
  onClose: () => void;
  onDone: () => void;
}) {
  const at = useWorkspace();
  const client = useQueryClient();
  const [runs] = useState(given);
  const [postOnce] = useState(createPostOnce);
  /** Those that a second try leaves alone: what a tool did it would do twice. */
  const done = useRef(new Map<string, Became>());
  const all = useMutation({
    mutationFn: () =>
      doAll(
        runs.filter(({ id }) => !done.current.has(id)),
        async (run) => {
          done.current.set(run.id, await acts[kind](at, run, postOnce));
        },
      ),
    onSettled: () => void client.invalidateQueries(runApi.all(at)),
    onSuccess: () => {
      const ended = [...done.current.values()].filter((became) => became === "ended").length;
      toast(
        `${plural(runs.length - ended, "run")} ${kind === "cancel" ? "cancelled" : "started"}`,
        ended > 0 ? `${plural(ended, "run")} had ended before.` : undefined,
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

/** All of them, however the others end; throws the first refusal. */
async function doAll(runs: Run[], act: (run: Run) => Promise<unknown>): Promise<void> {
  const ended = await Promise.allSettled(runs.map(act));
  const refused = ended.find((each) => each.status === "rejected");
  if (refused) throw refused.reason;
}
