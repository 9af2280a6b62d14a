import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { Faults } from "../../lib/fault-of.ts";
import { useEdited } from "../../lib/use-edited.ts";
import { type Fields, fieldsOf } from "../../lib/use-form.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Button } from "../../ui/button.tsx";
import { ConflictNote } from "../../ui/conflict-note.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { SheetForm, SheetFormActs } from "../../ui/sheet-form.tsx";
import { toast } from "../../ui/toast.ts";
import { useMay } from "../session/use-may.ts";
import type { At, resource } from "./resource.ts";

type Changes = Record<string, unknown>;

/** What the form of a definition knows of one kind of things. */
export interface DefinitionKind<Thing extends { id: string; name: string }, Draft extends object> {
  /** “Agent”. */
  noun: string;
  api: Pick<ReturnType<typeof resource<Thing>>, "one" | "of" | "all">;
  draftOf: (thing: Thing) => Draft;
  changesOf: (draft: Draft, base: Thing) => Changes;
  /** What of a draft cannot be read yet. */
  faultsOf: (draft: Draft, thing: Thing) => Faults<Draft>;
  /** Which fields a refusal speaks of. */
  blame: (error: Error | null, draft: Draft) => { faults: Faults<Draft>; rest: string[] };
  /** Changes the thing as it was read. */
  save: (at: At, from: Thing, changes: Changes) => Promise<Thing>;
  /** What somebody else saved meanwhile, where that is why it was not saved. */
  newerOf: (at: At, error: Error, id: string) => Promise<Thing | null>;
  isNewer: (thing: Thing, base: Thing) => boolean;
  /** The fields of changes, in words. */
  words: (changes: Changes) => string[];
  /** The request behind it. */
  request: (base: Thing, changes: Changes) => { path: string; body: object };
  says: {
    act: (base: Thing) => string;
    saved: (thing: Thing) => string;
    state: (mine: readonly string[], isFaulty: boolean) => string;
    conflict: (newer: Thing, base: Thing) => { title: string; mineAct: string; theirsAct: string };
  };
}

/** What a thing is, to read and to change, unless somebody else was faster: then it asks. */
export function DefinitionForm<Thing extends { id: string; name: string }, Draft extends object>({
  kind,
  thing,
  above,
  children,
}: {
  kind: DefinitionKind<Thing, Draft>;
  thing: Thing;
  above?: ReactNode;
  children: (fields: Fields<Draft>) => ReactNode;
}) {
  const { api, says } = kind;
  const at = useWorkspace();
  const client = useQueryClient();
  const may = useMay("member");
  const edited = useEdited(thing, kind.draftOf, kind.changesOf);
  const { base, draft, changes, isDirty, newer, take } = edited;
  const save = useMutation({
    mutationFn: ({ from, said }: { from: Thing; said: Changes }) => kind.save(at, from, said),
    onSuccess: (saved) => {
      client.setQueryData(api.one(at, saved.id).queryKey, saved);
      take(saved);
      toast(`${kind.noun} saved`, says.saved(saved));
      void client.invalidateQueries(api.of(at, saved.id));
      void client.invalidateQueries(api.all(at));
    },
    onError: async (error) => edited.setNewer(await kind.newerOf(at, error, thing.id)),
  });
  const refused = kind.blame(save.error, draft);
  const found = kind.faultsOf(draft, base);
  const faults: Faults<Draft> = { ...refused.faults, ...(edited.tried ? found : {}) };
  const isPlaced = refused.rest.length === 0 && Object.keys(refused.faults).length > 0;
  const submit = () => {
    edited.setTried(true);
    if (Object.keys(found).length > 0) return false;
    if (isDirty && !save.isPending) save.mutate({ from: base, said: changes });
    return true;
  };
  const begin = (saved: Thing) => {
    save.reset();
    take(saved);
  };
  const set = (change: Partial<Draft>) => {
    edited.edit(change);
    if (save.isError && !newer) save.reset();
  };
  // Somebody else may save meanwhile: the form shows their values as long as it has no unsaved changes.
  if (kind.isNewer(thing, base) && !isDirty && !save.isPending) take(thing);
  return (
    <SheetForm
      legend={`Definition of ${base.name}`}
      disabled={!may}
      form={{ ...save, isUnsaved: isDirty && !save.isPending, failure: save.error, submit }}
      above={above}
      request={{ method: "PATCH", ...kind.request(base, changes) }}
      foot={may && (isDirty || save.error) ? foot() : null}
    >
      {children(fieldsOf(draft, faults, set))}
    </SheetForm>
  );

  function foot() {
    const mine = kind.words(changes);
    if (newer)
      return (
        <ConflictNote
          {...says.conflict(newer, base)}
          theirs={kind.words(kind.changesOf(kind.draftOf(newer), base))}
          mine={mine}
          busy={save.isPending}
          onMine={() => save.mutate({ from: newer, said: edited.rebase(newer) })}
          onTheirs={() => {
            client.setQueryData(api.one(at, newer.id).queryKey, newer);
            begin(newer);
          }}
        />
      );
    return (
      <>
        {save.error && !isPlaced && <ErrorNote title="Not saved" error={save.error} />}
        <SheetFormActs>
          <Button type="submit" kind="primary" disabled={!isDirty || save.isPending}>
            {save.isPending ? "Saving" : says.act(base)}
          </Button>
          <Button kind="ghost" onClick={() => begin(base)}>
            Discard
          </Button>
          <span className="text-xs text-muted" role="status">
            {says.state(mine, Object.keys(faults).length > 0)}
          </span>
        </SheetFormActs>
      </>
    );
  }
}
