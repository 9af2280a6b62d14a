import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { Tool } from "../../../../server/wire/tool.ts";
import { useMay } from "../../entities/session/use-may.ts";
import { changeTool, ToolChanged, toolApi } from "../../entities/tool/tool-api.ts";
import { ApiError } from "../../lib/api.ts";
import { type Edited, useEdited } from "../../lib/use-edited.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Button } from "../../ui/button.tsx";
import { ConflictNote } from "../../ui/conflict-note.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { SheetForm, SheetFormActs } from "../../ui/sheet-form.tsx";
import { FoldedCode } from "../../ui/show-code.tsx";
import { toast } from "../../ui/toast.ts";
import { readToolDraft, toolChanges, toolDraftOf, toolFaults } from "./tool-draft.ts";
import { ToolForm } from "./tool-form.tsx";
import { toolWords } from "./tool-words.ts";
import { type ToolDraft, toolParts } from "./types/tool-parts.ts";

/** What a tool is, to read and to change. Its type stands. */
export function ToolDefinition({ tool }: { tool: Tool }) {
  const may = useMay("member");
  const { Above } = toolParts[tool.type];
  const edited = useEdited(tool, toolDraftOf, toolChanges);
  const { base, draft, changes, isDirty, tried } = edited;
  const save = useSaveTool(edited);
  const refused = save.error instanceof ApiError ? toolFaults(save.error.faults) : { faults: {}, rest: [] };
  const faults = { ...refused.faults, ...(tried ? readToolDraft(tool.type, draft).faults : {}) };
  const submit = () => {
    edited.setTried(true);
    if (Object.keys(readToolDraft(tool.type, draft).faults).length > 0) return false;
    if (isDirty && !save.isPending) save.mutate({ from: base, said: changes });
    return true;
  };
  // What somebody else saved comes with the next reading: nobody has written here yet, so it is taken.
  if (tool.updated_at > base.updated_at && !isDirty && !save.isPending) edited.take(tool);
  return (
    <SheetForm
      legend={`Definition of ${base.name}`}
      disabled={!may}
      unsaved={isDirty && !save.isPending}
      error={save.error}
      onSubmit={submit}
      above={Above && <Above tool={tool} />}
      code={
        <FoldedCode
          name="tool"
          request={{
            method: "PATCH",
            path: `/v1/tools/${tool.id}`,
            body: isDirty ? changes : { description: base.description },
          }}
        />
      }
      foot={
        may && (isDirty || save.error) ? (
          <Foot
            edited={edited}
            save={save}
            isRefused={refused.rest.length === 0 && Object.keys(refused.faults).length > 0}
            isFaulty={Object.keys(faults).length > 0}
          />
        ) : null
      }
    >
      <ToolForm
        type={tool.type}
        draft={draft}
        faults={faults}
        onChange={(change) => {
          edited.edit(change);
          if (save.isError && !edited.newer) save.reset();
        }}
      />
    </SheetForm>
  );
}

type EditedTool = Edited<Tool, ToolDraft>;

function useSaveTool({ take, setNewer }: EditedTool) {
  const at = useWorkspace();
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ from, said }: { from: Tool; said: object }) => changeTool(at, from, said),
    onSuccess: (saved) => {
      client.setQueryData(toolApi.one(at, saved.id).queryKey, saved);
      take(saved);
      toast("Tool saved", saved.name);
      void client.invalidateQueries(toolApi.all(at));
    },
    onError: (error) => {
      if (error instanceof ToolChanged) setNewer(error.newer);
    },
  });
}

function Foot({
  edited,
  save,
  isRefused,
  isFaulty,
}: {
  edited: EditedTool;
  save: ReturnType<typeof useSaveTool>;
  /** Whether fields say all that the server refused. */
  isRefused: boolean;
  isFaulty: boolean;
}) {
  const { base, changes, isDirty, newer, take, rebase } = edited;
  const at = useWorkspace();
  const client = useQueryClient();
  if (newer)
    return (
      <ConflictNote
        title={`Somebody saved ${newer.name} meanwhile`}
        theirs={toolWords(Object.keys(toolChanges(toolDraftOf(newer), base)))}
        mine={toolWords(Object.keys(changes))}
        mineAct="Save mine over it"
        theirsAct="Take theirs"
        busy={save.isPending}
        onMine={() => save.mutate({ from: newer, said: rebase(newer) })}
        onTheirs={() => {
          save.reset();
          client.setQueryData(toolApi.one(at, newer.id).queryKey, newer);
          take(newer);
        }}
      />
    );
  return (
    <>
      {save.error && !isRefused && <ErrorNote title="Not saved" error={save.error} />}
      <SheetFormActs>
        <Button type="submit" kind="primary" disabled={!isDirty || save.isPending}>
          {save.isPending ? "Saving" : "Save tool"}
        </Button>
        <Button
          kind="ghost"
          onClick={() => {
            save.reset();
            take(base);
          }}
        >
          Discard
        </Button>
        <span className="text-xs text-muted" role="status">
          {isFaulty
            ? "Something cannot be saved as it is."
            : "New runs get what you save; runs under way keep what they began with."}
        </span>
      </SheetFormActs>
    </>
  );
}
