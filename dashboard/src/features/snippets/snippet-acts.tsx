import { useQuery } from "@tanstack/react-query";
import { Pencil, Trash2 } from "lucide-react";
import type { Snippet } from "../../../../server/domain/api-types/snippet.ts";
import { UsingAgents } from "../../entities/agent/using-agents.tsx";
import { useRefresh } from "../../entities/crud/use-refresh.ts";
import { usePermission } from "../../entities/session/use-may.ts";
import { snippetApi, snippetVersionsQuery } from "../../entities/snippet/snippet-api.ts";
import { type Fields, useForm } from "../../hooks/use-form.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Time } from "../../ui/data/time.tsx";
import { ActionsMenu } from "../../ui/dialogs/actions-menu.tsx";
import { DeleteDialog } from "../../ui/dialogs/delete-dialog.tsx";
import { FormDialog } from "../../ui/dialogs/form-dialog.tsx";
import { toast } from "../../ui/feedback/toast.ts";
import { Button } from "../../ui/forms/button.tsx";
import { Field } from "../../ui/forms/field.tsx";
import { TextArea } from "../../ui/forms/text-area.tsx";

/** Open dialog of a snippet. */
export type SnippetAct = { kind: "create" } | { kind: "edit" | "delete"; snippet: Snippet };

/** Menu of a snippet's actions. */
export function SnippetMenu({ snippet, onAct }: { snippet: Snippet; onAct: (act: SnippetAct) => void }) {
  return (
    <ActionsMenu
      of={snippet.name}
      acts={[
        { icon: Pencil, word: "Edit snippet", onDo: () => onAct({ kind: "edit", snippet }) },
        { icon: Trash2, word: "Delete snippet", danger: true, onDo: () => onAct({ kind: "delete", snippet }) },
      ]}
    />
  );
}

/** Dialog of the chosen action. */
export function SnippetDialogs({ act, onAct }: { act: SnippetAct | null; onAct: (act: SnippetAct | null) => void }) {
  const at = useWorkspace();
  const close = () => onAct(null);
  if (!act) return null;
  if (act.kind === "create") return <CreateSnippet onClose={close} />;
  const { kind, snippet } = act;
  if (kind === "edit") return <EditSnippet key={snippet.id} id={snippet.id} listed={snippet} onClose={close} />;
  return (
    <DeleteDialog
      noun="snippet"
      name={snippet.name}
      remove={() => snippetApi.remove(at, snippet.id)}
      stale={[snippetApi.all(at)]}
      onClose={close}
    >
      A snippet that agents use cannot be deleted: take it out of them first. Runs keep the text that they began with.
    </DeleteDialog>
  );
}

const first = { name: "", description: "", text: "" };
type Draft = typeof first;

const descriptionOf = ({ description }: Pick<Draft, "description">): string | null => description.trim() || null;

function CreateSnippet({ onClose }: { onClose: () => void }) {
  const at = useWorkspace();
  const refresh = useRefresh(snippetApi);
  const bodyOf = (draft: Draft) => ({
    name: draft.name.trim(),
    text: draft.text,
    ...(draft.description.trim() && { description: descriptionOf(draft) }),
  });
  const form = useForm({
    first,
    send: (draft) => snippetApi.create(at, bodyOf(draft)),
    onSent: async ({ name }) => {
      toast("Snippet created", name);
      onClose();
      await refresh();
    },
  });
  return (
    <FormDialog
      form={form}
      onClose={onClose}
      wide
      title="Create snippet"
      about="Agents list it by its name, which cannot be changed."
      act="Create snippet"
      acting="Creating"
      ready={form.draft.name.trim() !== "" && form.draft.text !== ""}
      failed="The snippet was not created"
      request={{ method: "POST", path: "/v1/snippets", body: bodyOf(form.draft) }}
    >
      <Field label="Name" placeholder="refund_policy" autoComplete="off" spellCheck={false} {...form.text("name")} />
      <SnippetFields text={form.text} />
    </FormDialog>
  );
}

/** Reads the whole snippet first, because a list may cut its text short. */
function EditSnippet({ id, listed, onClose }: { id: string; listed: Snippet; onClose: () => void }) {
  const read = useQuery({ ...snippetApi.one(useWorkspace(), id), refetchOnMount: "always" });
  const snippet = read.data ?? (listed.truncated ? null : listed);
  return snippet ? <SnippetForm key={snippet.version} snippet={snippet} onClose={onClose} /> : null;
}

/** Edits a snippet's text and description, and shows its earlier versions. */
function SnippetForm({ snippet, onClose }: { snippet: Snippet; onClose: () => void }) {
  const at = useWorkspace();
  const may = usePermission("member");
  const refresh = useRefresh(snippetApi);
  const versions = useQuery(snippetVersionsQuery(at, snippet.id));
  const { id, version } = snippet;
  const bodyOf = (draft: Pick<Draft, "text" | "description">) => ({
    text: draft.text,
    description: descriptionOf(draft),
    expected_version: version,
  });
  const form = useForm({
    first: { text: snippet.text, description: snippet.description ?? "" },
    send: (draft) => snippetApi.change(at, id, bodyOf(draft)),
    onSent: async ({ name, version }) => {
      toast("Snippet saved", `${name}, version ${version}`);
      onClose();
      await refresh();
    },
  });
  const earlier = versions.data?.data.filter((each) => each.version !== version && !each.truncated) ?? [];
  return (
    <FormDialog
      form={form}
      onClose={onClose}
      wide
      title={snippet.name}
      about={`Version ${version}. Another text makes a new version, which agents that follow the newest one use at once.`}
      act="Save snippet"
      acting="Saving"
      ready={may && form.draft.text !== ""}
      failed="The snippet was not saved"
      request={{ method: "PATCH", path: `/v1/snippets/${id}`, body: bodyOf(form.draft) }}
    >
      <SnippetFields text={form.text} />
      <section aria-label="Agents" className="flex flex-col gap-1.5">
        <h3 className="font-medium">Agents</h3>
        <UsingAgents uses={({ snippets }) => snippets.some((each) => each.split("@")[0] === snippet.name)} />
      </section>
      {earlier.length > 0 && (
        <section aria-label="Earlier versions" className="flex flex-col gap-1.5">
          <h3 className="font-medium">Earlier versions</h3>
          <ul className="max-h-60 overflow-y-auto rounded-md border border-line">
            {earlier.map((each) => (
              <li
                key={each.version}
                className="flex min-h-9 items-center gap-3 border-b border-line-soft px-3 py-1 last:border-b-0"
              >
                <span className="text-muted">{each.version}</span>
                <span className="cut min-w-0 flex-1" title={each.text}>
                  {each.text}
                </span>
                <span className="text-xs text-muted">
                  <Time at={each.created_at} />
                </span>
                {may && (
                  <Button
                    kind="ghost"
                    size="sm"
                    aria-label={`Use the text of version ${each.version}`}
                    onClick={() => form.set({ text: each.text })}
                  >
                    Use text
                  </Button>
                )}
              </li>
            ))}
          </ul>
        </section>
      )}
    </FormDialog>
  );
}

function SnippetFields({ text }: Pick<Fields<Pick<Draft, "text" | "description">>, "text">) {
  return (
    <>
      <Field label="Description" hint="For people." autoComplete="off" {...text("description")} />
      <TextArea
        label="Text"
        rows={8}
        hint="It may have variables of the agents that use it, such as {{customer}}."
        {...text("text")}
      />
    </>
  );
}
