import { useQueryClient } from "@tanstack/react-query";
import type { ToolType } from "../../../../server/core/agent-snapshot.ts";
import { CreatePage } from "../../entities/resource/create-page.tsx";
import { toolApi } from "../../entities/tool/tool-api.ts";
import { toolTypeWord } from "../../entities/tool/tool-words.ts";
import type { NewToolSearch } from "../../entities/tool/tools-search.ts";
import { useForm } from "../../lib/use-form.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { FormSection } from "../../ui/form-section.tsx";
import { SecretDialog } from "../../ui/secret-dialog.tsx";
import { toast } from "../../ui/toast.ts";
import { blameTool, readToolDraft, toolCreation, toolDraftOf } from "./tool-draft.ts";
import { ToolForm } from "./tool-form.tsx";
import { shownTypes, toolParts } from "./types/tool-parts.ts";

/** Makes a tool. One that signs its calls shows its signing secret, once. */
export function NewToolPage({
  search: { type = "client" },
  onSearch,
  onCreated,
}: {
  search: NewToolSearch;
  onSearch: (search: NewToolSearch) => void;
  onCreated: (id: string) => void;
}) {
  const at = useWorkspace();
  const client = useQueryClient();
  const form = useForm({
    first: () => toolDraftOf(),
    check: (draft) => readToolDraft(type, draft).faults,
    blame: blameTool,
    send: (draft) => toolApi.create(at, toolCreation(type, draft)),
    onSent: (tool) => {
      toast("Tool created", tool.name);
      void client.invalidateQueries(toolApi.all(at));
      if (!tool.signing_secret) onCreated(tool.id);
    },
  });
  const { made } = form;
  return (
    <>
      <CreatePage noun="tool" many="Tools" form={form} body={toolCreation(type, form.draft)}>
        <FormSection title="Type" about="It cannot be changed later.">
          <TypeChoice
            type={type}
            onType={(next) => {
              form.forget();
              onSearch({ type: next });
            }}
          />
        </FormSection>
        <ToolForm type={type} {...form} />
      </CreatePage>
      {made?.signing_secret && (
        <SecretDialog
          title="Save this signing secret now"
          about={`The receiver of ${made.name}'s calls verifies with it that they come from this server.`}
          secret={made.signing_secret}
          variable="RUNNEL_SIGNING_SECRET"
          onStored={() => onCreated(made.id)}
        >
          <p className="text-muted">
            Each call carries webhook-id, webhook-timestamp and webhook-signature. Verify the signature over the raw
            body before you do anything else.
          </p>
        </SecretDialog>
      )}
    </>
  );
}

function TypeChoice({ type, onType }: { type: ToolType; onType: (type: ToolType) => void }) {
  return (
    <fieldset className="grid min-w-0 gap-2 rail:grid-cols-2 wide:grid-cols-3">
      <legend className="sr-only">Type of the tool</legend>
      {shownTypes.map((value) => (
        <label
          key={value}
          className="flex cursor-pointer items-start gap-2.5 rounded-md border border-line-button px-3 py-2 hover:bg-hover has-checked:border-accent has-checked:bg-accent-soft has-focus-visible:shadow-(--focus)"
        >
          <input
            type="radio"
            name="tool-type"
            checked={type === value}
            onChange={() => onType(value)}
            className="mt-0.5 focus-visible:shadow-none"
          />
          <span className="min-w-0">
            <span className="block font-strong">{toolTypeWord(value)}</span>
            <span className="block text-xs text-muted">{toolParts[value].hint}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}
