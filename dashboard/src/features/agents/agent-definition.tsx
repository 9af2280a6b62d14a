import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { Agent } from "../../../../server/wire/agent.ts";
import { agentApi } from "../../entities/agent/agent-api.ts";
import { useMay } from "../../entities/session/use-may.ts";
import { ApiError, get, resourceUrl } from "../../lib/api.ts";
import { type Edited, useEdited } from "../../lib/use-edited.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Button } from "../../ui/button.tsx";
import { ConflictNote } from "../../ui/conflict-note.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { SheetForm, SheetFormActs } from "../../ui/sheet-form.tsx";
import { FoldedCode } from "../../ui/show-code.tsx";
import { toast } from "../../ui/toast.ts";
import type { DefinitionField, Draft } from "./agent-fields.ts";
import { AgentForm } from "./agent-form.tsx";
import { changedFields, changesOf, draftOf, fieldWords, readDraft } from "./draft.ts";
import { faultFields } from "./fault-field.ts";

/** What an agent is, to read and to change. A change is a new version, made from the one that was read. */
export function AgentDefinition({ agent }: { agent: Agent }) {
  const may = useMay("member");
  const edited = useEdited(agent, draftOf, changesOf);
  const { base, draft, changes, isDirty, tried } = edited;
  const save = useSaveAgent(agent.id, edited);
  const refused = save.error instanceof ApiError ? faultFields(save.error.faults).faults : {};
  const faults = { ...refused, ...(tried ? readDraft(draft).faults : {}) };
  const submit = () => {
    edited.setTried(true);
    if (Object.keys(readDraft(draft).faults).length > 0) return false;
    if (isDirty && !save.isPending) save.mutate({ from: base, said: changes });
    return true;
  };
  // Somebody else's version comes with the next reading of the page: nobody has written here yet, so it is taken.
  if (agent.version > base.version && !isDirty && !save.isPending) edited.take(agent);
  return (
    <SheetForm
      legend={`Definition of ${base.name}`}
      disabled={!may}
      unsaved={isDirty && !save.isPending}
      error={save.error}
      onSubmit={submit}
      code={
        <FoldedCode
          name="agent"
          request={{
            method: "PATCH",
            path: `/v1/agents/${agent.id}`,
            body: { ...(isDirty ? changes : { instructions: base.instructions }), expected_version: base.version },
          }}
        />
      }
      foot={
        may && (isDirty || save.error) ? (
          <Foot
            edited={edited}
            save={save}
            isRefused={Object.keys(refused).length > 0}
            isFaulty={Object.keys(faults).length > 0}
          />
        ) : null
      }
    >
      <AgentForm
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

type EditedAgent = Edited<Agent, Draft>;

function useSaveAgent(id: string, { take, setNewer }: EditedAgent) {
  const at = useWorkspace();
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ from, said }: { from: Agent; said: object }) =>
      agentApi.change(at, id, { ...said, expected_version: from.version }),
    onSuccess: (saved) => {
      client.setQueryData(agentApi.one(at, id).queryKey, saved);
      take(saved);
      toast("Agent saved", `${saved.name} is at version ${saved.version}`);
      void client.invalidateQueries(agentApi.of(at, id));
      void client.invalidateQueries(agentApi.all(at));
    },
    onError: async (error) => {
      if (error instanceof ApiError && error.code === "version_conflict")
        setNewer(await get<Agent>(resourceUrl(at, `/agents/${encodeURIComponent(id)}`)));
    },
  });
}

function Foot({
  edited,
  save,
  isRefused,
  isFaulty,
}: {
  edited: EditedAgent;
  save: ReturnType<typeof useSaveAgent>;
  /** Whether a field says what the server refused. */
  isRefused: boolean;
  isFaulty: boolean;
}) {
  const { base, changes, newer, take, rebase } = edited;
  const at = useWorkspace();
  const client = useQueryClient();
  const mine = fieldWords(Object.keys(changes) as DefinitionField[]);
  if (newer)
    return (
      <ConflictNote
        title={`Somebody saved version ${newer.version} meanwhile; you began with version ${base.version}`}
        theirs={fieldWords(changedFields(base, newer))}
        mine={mine}
        mineAct={`Save mine as version ${newer.version + 1}`}
        theirsAct={`Take version ${newer.version}`}
        busy={save.isPending}
        onMine={() => save.mutate({ from: newer, said: rebase(newer) })}
        onTheirs={() => {
          save.reset();
          client.setQueryData(agentApi.one(at, newer.id).queryKey, newer);
          take(newer);
        }}
      />
    );
  return (
    <>
      {save.error && !isRefused && <ErrorNote title="Not saved" error={save.error} />}
      <SheetFormActs>
        <Button type="submit" kind="primary" disabled={mine.length === 0 || save.isPending}>
          {save.isPending ? "Saving" : `Save as version ${base.version + 1}`}
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
          Changed: {mine.join(", ") || "nothing"}
          {isFaulty && ". Something cannot be saved as it is."}
        </span>
      </SheetFormActs>
    </>
  );
}
