import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { ApiError, get, resourceUrl } from "../../lib/api.ts";
import { sendOnEnter } from "../../lib/send-on-enter.ts";
import { useMay } from "../../lib/use-may.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Button } from "../../ui/button.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { focusFault } from "../../ui/fns/focus-fault.ts";
import { Note } from "../../ui/note.tsx";
import { FoldedCode } from "../../ui/show-code.tsx";
import { toast } from "../../ui/toast.tsx";
import { AgentForm } from "./agent-form.tsx";
import { type Agent, changeAgent } from "./agents-api.ts";
import { changedFields, type DefinitionField, fieldWords } from "./fns/definition.ts";
import { changesOf, type Draft, draftOf, readDraft, rebased } from "./fns/draft.ts";
import { faultFields } from "./fns/fault-field.ts";

/** What an agent is, to read and to change. A change is a new version, made from the one that was read. */
export function AgentDefinition({ agent }: { agent: Agent }) {
  const at = useWorkspace();
  const may = useMay("member");
  const client = useQueryClient();
  const form = useRef<HTMLFormElement>(null);
  // The version that the draft is made from: what somebody else saves meanwhile may not slip in unseen.
  const [base, setBase] = useState(agent);
  const [draft, setDraft] = useState<Draft>(() => draftOf(agent));
  const [tried, setTried] = useState(false);
  const [newer, setNewer] = useState<Agent | null>(null);
  const changes = changesOf(draft, base);
  const dirty = Object.keys(changes).length > 0;
  const take = (saved: Agent) => {
    setBase(saved);
    setDraft(draftOf(saved));
    setNewer(null);
    setTried(false);
  };
  const save = useMutation({
    mutationFn: ({ from, said }: { from: Agent; said: object }) =>
      changeAgent(at, agent.id, { ...said, expected_version: from.version }),
    onSuccess: (saved) => {
      client.setQueryData(["agent", at.projectId, at.mode, saved.id, "whole"], saved);
      take(saved);
      toast("Agent saved", `${saved.name} is at version ${saved.version}`);
      void client.invalidateQueries({ queryKey: ["agent", at.projectId, at.mode, saved.id] });
      void client.invalidateQueries({ queryKey: ["agents"] });
    },
    onError: async (error) => {
      if (error instanceof ApiError && error.code === "version_conflict")
        setNewer(await get<Agent>(resourceUrl(at, `/agents/${encodeURIComponent(agent.id)}`)));
    },
  });
  useEffect(() => {
    if (save.error) focusFault(form.current);
  }, [save.error]);
  const own = tried ? readDraft(draft).faults : {};
  const refused = save.error instanceof ApiError ? faultFields(save.error.faults) : { faults: {}, rest: [] };
  const faults = { ...refused.faults, ...own };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (Object.keys(readDraft(draft).faults).length > 0) focusFault(form.current);
    else if (dirty && !save.isPending) save.mutate({ from: base, said: changes });
  };
  // Somebody else's version comes with the next reading of the page: nobody has written here yet, so it is taken.
  if (agent.version > base.version && !dirty && !save.isPending) take(agent);
  return (
    <form ref={form} noValidate onSubmit={submit} onKeyDown={sendOnEnter} className="flex min-h-0 flex-1 flex-col">
      <div className="relative min-h-0 flex-1 overflow-y-auto px-4 rail:px-5">
        <fieldset disabled={!may} className="min-w-0 max-w-280">
          <legend className="sr-only">Definition of {base.name}</legend>
          <AgentForm
            draft={draft}
            faults={faults}
            onChange={(change) => {
              setDraft((before) => ({ ...before, ...change }));
              if (save.isError && !newer) save.reset();
            }}
          />
        </fieldset>
        <div className="max-w-280 pb-5">
          <FoldedCode
            name="agent"
            request={{
              method: "PATCH",
              path: `/v1/agents/${agent.id}`,
              body: { ...(dirty ? changes : { instructions: base.instructions }), expected_version: base.version },
            }}
          />
        </div>
      </div>
      {may && (dirty || save.error) && (
        <footer className="flex shrink-0 flex-col gap-3 border-t border-line bg-subtle px-4 py-3 rail:px-5">
          {newer && (
            <Conflict
              base={base}
              newer={newer}
              changes={Object.keys(changes) as DefinitionField[]}
              busy={save.isPending}
              onMine={() => {
                const both = rebased(draft, base, newer);
                setBase(newer);
                setDraft(both);
                setNewer(null);
                save.mutate({ from: newer, said: changesOf(both, newer) });
              }}
              onTheirs={() => {
                save.reset();
                client.setQueryData(["agent", at.projectId, at.mode, newer.id, "whole"], newer);
                take(newer);
              }}
            />
          )}
          {save.error && !newer && Object.keys(refused.faults).length === 0 && (
            <ErrorNote title="Not saved" error={save.error} />
          )}
          {!newer && (
            <div className="flex flex-wrap items-center gap-2">
              <Button type="submit" kind="primary" disabled={!dirty || save.isPending}>
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
                Changed: {wordsOf(Object.keys(changes) as DefinitionField[])}
                {Object.keys(faults).length > 0 && ". Something cannot be saved as it is."}
              </span>
            </div>
          )}
        </footer>
      )}
    </form>
  );
}

/** Somebody else saved another version meanwhile: what changed, and what is to be done with what stands here. */
function Conflict({
  base,
  newer,
  changes,
  busy,
  onMine,
  onTheirs,
}: {
  base: Agent;
  newer: Agent;
  changes: DefinitionField[];
  busy: boolean;
  onMine: () => void;
  onTheirs: () => void;
}) {
  const theirs = changedFields(base, newer);
  const both = theirs.filter((field) => changes.includes(field));
  return (
    <Note tone="warn" role="alert">
      <b>
        Somebody saved version {newer.version} meanwhile; you began with version {base.version}
      </b>
      <p>
        {theirs.length === 0 ? "It says the same again." : `They changed: ${wordsOf(theirs)}.`} You changed:{" "}
        {wordsOf(changes)}.{" "}
        {both.length > 0
          ? `Yours would replace theirs in: ${wordsOf(both)}.`
          : "Both can stand: no field was changed twice."}
      </p>
      <div className="mt-2 flex flex-wrap gap-2">
        <Button kind="primary" size="sm" disabled={busy} onClick={onMine}>
          Save mine as version {newer.version + 1}
        </Button>
        <Button size="sm" disabled={busy} onClick={onTheirs}>
          Take version {newer.version}
        </Button>
      </div>
    </Note>
  );
}

const wordsOf = (fields: readonly DefinitionField[]): string =>
  fields.map((field) => fieldWords[field].toLowerCase()).join(", ") || "nothing";
