import type { Webhook } from "../../../../server/domain/api-types/webhook.ts";
import { useRefresh } from "../../entities/crud/use-refresh.ts";
import { type WebhookWithSecret, webhookApi } from "../../entities/webhook/webhook-api.ts";
import { useForm } from "../../hooks/use-form.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { FormDialog } from "../../ui/dialogs/form-dialog.tsx";
import { Field } from "../../ui/forms/field.tsx";
import { EventChoice } from "./event-choice.tsx";

const draftOf = (webhook?: Webhook) => ({
  url: webhook?.url ?? "",
  events: webhook?.events ?? (["run.completed", "run.failed"] as string[]),
  description: webhook?.description ?? "",
});

const orderOf = ({ url, events, description }: ReturnType<typeof draftOf>) => ({
  url: url.trim(),
  events,
  description: description.trim() || null,
});

/** Form that creates or edits a webhook. */
export function WebhookForm({
  webhook,
  onClose,
  onDone,
}: {
  /** Absent for a new one. */
  webhook?: Webhook;
  onClose: () => void;
  onDone: (done: Webhook | WebhookWithSecret) => void;
}) {
  const at = useWorkspace();
  const refresh = useRefresh(webhookApi);
  const form = useForm({
    first: () => draftOf(webhook),
    send: (draft): Promise<Webhook | WebhookWithSecret> =>
      webhook ? webhookApi.change(at, webhook.id, orderOf(draft)) : webhookApi.create(at, orderOf(draft)),
    onSent: async (done) => {
      await refresh();
      onDone(done);
    },
  });
  const { draft, text, set } = form;
  return (
    <FormDialog
      form={form}
      onClose={onClose}
      title={webhook ? "Edit webhook" : "Create webhook"}
      about={
        <>
          Sends events of <b>{at.mode} data</b> of {at.project.name}.
        </>
      }
      act={webhook ? "Save webhook" : "Create webhook"}
      acting={webhook ? "Saving webhook" : "Creating webhook"}
      ready={draft.url.trim() !== "" && draft.events.length > 0}
      failed={`The webhook was not ${webhook ? "saved" : "created"}`}
      request={{
        method: webhook ? "PATCH" : "POST",
        path: webhook ? `/v1/webhooks/${webhook.id}` : "/v1/webhooks",
        body: orderOf(draft),
      }}
    >
      <Field
        label="URL"
        type="url"
        inputMode="url"
        placeholder="https://example.com/hooks/runnel"
        maxLength={2048}
        autoComplete="off"
        spellCheck={false}
        hint={at.mode === "test" ? "https, or http to this machine." : "https. Redirects are not followed."}
        {...text("url")}
      />
      <EventChoice events={draft.events} onChange={(events) => set({ events })} />
      <Field
        label="Description (optional)"
        maxLength={1024}
        autoComplete="off"
        hint="What receives the events."
        {...text("description")}
      />
    </FormDialog>
  );
}
