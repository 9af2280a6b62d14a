import { useQueryClient } from "@tanstack/react-query";
import type { ToolType } from "../../../../server/domain/agent-snapshot.ts";
import { CreatePage } from "../../entities/crud/create-page.tsx";
import { toolApi } from "../../entities/tool/tool-api.ts";
import { toolTypeWord } from "../../entities/tool/tool-words.ts";
import type { NewToolSearch } from "../../entities/tool/tools-search.ts";
import { useForm } from "../../hooks/use-form.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { SecretDialog } from "../../ui/dialogs/secret-dialog.tsx";
import { toast } from "../../ui/feedback/toast.ts";
import { FormSection } from "../../ui/forms/form-section.tsx";
import { blameTool, readToolDraft, toolCreation, toolDraftOf } from "./tool-draft.ts";
import { ToolForm } from "./tool-form.tsx";
import { toolParts, toolTypeOrder } from "./types/tool-parts.ts";

/** Creates a tool. Shows its signing secret once if it has one. */
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
  const { result } = form;
  return (
    <>
      <CreatePage noun="tool" many="Tools" form={form} body={toolCreation(type, form.draft)}>
        <FormSection title="Type" about="It cannot be changed later.">
          <TypeChoice
            type={type}
            onType={(next) => {
              form.clearError();
              onSearch({ type: next });
            }}
          />
        </FormSection>
        <ToolForm type={type} {...form} />
      </CreatePage>
      {result?.signing_secret && (
        <SecretDialog
          title="Save this signing secret now"
          about={`The receiver of ${result.name}'s calls verifies with it that they come from this server.`}
          secret={result.signing_secret}
          variable="RUNNEL_SIGNING_SECRET"
          onStored={() => onCreated(result.id)}
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
      {toolTypeOrder.map((value) => (
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
