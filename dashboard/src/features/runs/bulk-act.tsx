import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import type { AnyRun as Run } from "../../../../server/wire/run.ts";
import { runApi } from "../../entities/run/run-api.ts";
import { sameRun } from "../../entities/run/same-run.ts";
import { ApiError, post, resourceUrl } from "../../lib/api.ts";
import { plural } from "../../lib/format.ts";
import { createPostOnce, type PostOnce } from "../../lib/post-once.ts";
import { wholeOf } from "../../lib/whole-of.ts";
import { useWorkspace, type Workspace } from "../../lib/workspace.ts";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { toast } from "../../ui/toast.ts";

export type BulkKind = "cancel" | "again";

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
export function BulkAct({
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
      open
      onOpenChange={(open) => !open && onClose()}
      title={title}
      act={title}
      keep={isCancel ? "Let them run" : "Close"}
      kind={isCancel ? "danger" : "primary"}
      busy={all.isPending}
      onConfirm={() => all.mutate()}
    >
      <p>{isCancel ? cancelEffect : againEffect(at.mode === "live")}</p>
      {all.error && (
        <div className="mt-3">
          <ErrorNote title={isCancel ? "Not all runs were cancelled" : "Not all runs were started"} error={all.error} />
        </div>
      )}
    </ConfirmDialog>
  );
}

function titleOf(kind: BulkKind, count: number): string {
  if (count === 1) return kind === "cancel" ? "Cancel run" : "Run again";
  return kind === "cancel" ? `Cancel ${plural(count, "run")}` : `Run ${plural(count, "run")} again`;
}

const cancelEffect =
  "Their requests to models and all open tool calls stop at once. What was written so far is kept. A cancelled run cannot go on.";

const againEffect = (live: boolean): string =>
  `Each input is given to its agent once more, as the agent is now. Models and tools are called anew${
    live ? ", and this is live data: what the tools do, they do again." : "."
  } What cannot begin at once waits in the queue.`;

/** All of them, however the others end; throws the first refusal. */
async function doAll(runs: Run[], act: (run: Run) => Promise<unknown>): Promise<void> {
  const ended = await Promise.allSettled(runs.map(act));
  const refused = ended.find((each) => each.status === "rejected");
  if (refused) throw refused.reason;
}
