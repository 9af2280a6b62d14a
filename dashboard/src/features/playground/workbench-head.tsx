import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Code, Columns2 } from "lucide-react";
import type { ReactNode } from "react";
import { agentApi } from "../../entities/agent/agent-api.ts";
import { ApiError } from "../../lib/api.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { ModePill } from "../../ui/data/mode-pill.tsx";
import { ViewOnly } from "../../ui/data/view-only.tsx";
import { SheetHead } from "../../ui/dialogs/sheet.tsx";
import { ConflictNote } from "../../ui/feedback/conflict-note.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { toast } from "../../ui/feedback/toast.ts";
import { Button } from "../../ui/forms/button.tsx";
import { changedWords, draftOf } from "./draft.ts";
import type { EditedAgent } from "./use-draft.ts";

/** Head of the playground: comparison, code and saving. */
export function WorkbenchHead({
  edited,
  changes,
  hasFaults,
  readOnly,
  isBusy,
  compares,
  showsCode,
  onCompare,
  onCode,
}: {
  edited: EditedAgent;
  /** Null without unsaved changes. */
  changes: Record<string, unknown> | null;
  hasFaults: boolean;
  readOnly: boolean;
  isBusy: boolean;
  compares: boolean;
  showsCode: boolean;
  onCompare: () => void;
  onCode: () => void;
}) {
  const save = useSaveAgent(edited);
  const hasConflict = edited.newer !== null && !save.isPending;
  return (
    <>
      <SheetHead>
        <h1 className="text-lg">Playground</h1>
        <ModePill />
        {readOnly && <ViewOnly />}
        <span className="ml-auto flex flex-wrap items-center gap-2">
          <Button kind="ghost" aria-pressed={compares} disabled={isBusy} onClick={onCompare}>
            <Columns2 aria-hidden className="size-4" strokeWidth={1.5} />
            <span className="max-rail:sr-only">Compare two</span>
          </Button>
          <Button aria-pressed={showsCode} onClick={onCode}>
            <Code aria-hidden className="size-4" strokeWidth={1.5} />
            <span className="max-rail:sr-only">Show code</span>
          </Button>
          {changes && !readOnly && !hasConflict && (
            <>
              <Button onClick={edited.discard}>Discard</Button>
              <Button
                disabled={save.isPending || hasFaults}
                onClick={() => save.mutate(changes)}
                title="Saves the changes as a new version of the agent"
              >
                Save as version {edited.base.version + 1}
              </Button>
            </>
          )}
        </span>
      </SheetHead>
      {hasConflict && (
        <Below>
          <Conflict {...edited} />
        </Below>
      )}
      {save.error && !isConflict(save.error) && (
        <Below>
          <ErrorNote title="The agent was not saved" error={save.error} />
        </Below>
      )}
    </>
  );
}

function Below({ children }: { children: ReactNode }) {
  return <div className="shrink-0 border-b border-line px-4 py-2 rail:px-5">{children}</div>;
}

/** Until this is decided, runs use the newer version with this draft. */
function Conflict({ base, draft, newer, rebase, discard }: EditedAgent) {
  if (!newer) return null;
  const baseDraft = draftOf(base);
  const newerLabels = changedWords(baseDraft, draftOf(newer));
  return (
    <ConflictNote
      title={`Someone saved version ${newer.version} meanwhile; you started from version ${base.version}`}
      theirs={newerLabels.length > 0 ? newerLabels : ["what is not shown here"]}
      mine={changedWords(baseDraft, draft)}
      mineAct={`Keep mine on version ${newer.version}`}
      theirsAct={`Take version ${newer.version}`}
      busy={false}
      onMine={rebase}
      onTheirs={discard}
    />
  );
}

/** Saves the draft as the agent's next version. On a conflict, fetches the version saved elsewhere. */
function useSaveAgent({ base, draft, take }: EditedAgent) {
  const at = useWorkspace();
  const client = useQueryClient();
  const { queryKey } = agentApi.one(at, base.id);
  return useMutation({
    mutationFn: (changes: Record<string, unknown>) =>
      agentApi.change(at, base.id, { ...changes, expected_version: base.version }),
    onMutate: () => draft,
    onSuccess: (saved, _, sentDraft) => {
      take(saved, sentDraft);
      client.setQueryData(queryKey, saved);
      void client.invalidateQueries(agentApi.all(at));
      toast(`Saved as version ${saved.version}`);
    },
    onError: async (error) => {
      if (isConflict(error)) await client.refetchQueries({ queryKey });
    },
  });
}

/** True if another person has saved a version in the meantime. */
const isConflict = (error: Error): boolean => error instanceof ApiError && error.code === "version_conflict";
