import { useMutation } from "@tanstack/react-query";
import { Columns2, Download, ListChecks, RotateCw, Square, X } from "lucide-react";
import { type ReactNode, useState } from "react";
import { isOver } from "../../../../server/core/run-state.ts";
import type { AnyRun as Run } from "../../../../server/wire/run.ts";
import { useMay } from "../../entities/session/use-may.ts";
import { get, resourceUrl } from "../../lib/api.ts";
import { downloadText } from "../../lib/download.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { failed } from "../../ui/toast.ts";
import { BulkAct, type BulkKind } from "./bulk-act.tsx";

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
          why={!mayAct ? "Viewers cannot cancel runs" : open.length === 0 ? "They are all over" : null}
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
          why={!mayAct ? "Viewers cannot change suites" : open.length === runs.length ? "None of them is over" : null}
          onClick={() => onPin(runs)}
        >
          Add to suite
        </Act>
        <Act
          icon={<Download aria-hidden className="size-3.5 max-rail:hidden" strokeWidth={1.5} />}
          why={download.isPending ? "They are being read" : null}
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
