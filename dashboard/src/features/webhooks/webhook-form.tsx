import { useMutation } from "@tanstack/react-query";
import { useRef, useState } from "react";
import type { Webhook } from "../../../../server/wire/webhook.ts";
import { useRefresh } from "../../entities/resource/use-refresh.ts";
import { type MadeWebhook, webhookApi } from "../../entities/webhook/webhook-api.ts";
import { faultOf } from "../../lib/fault-of.ts";
import { useChanged } from "../../lib/use-changed.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Field } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { FoldedCode } from "../../ui/show-code.tsx";
import { EventChoice } from "./event-choice.tsx";

/** Makes a webhook, or changes one: where to, of what, and what for. */
export function WebhookForm({
  webhook,
  onClose,
  onDone,
}: {
  /** Absent for a new one. */
  webhook?: Webhook;
  onClose: () => void;
  onDone: (done: Webhook | MadeWebhook) => void;
}) {
  const at = useWorkspace();
  const refresh = useRefresh(webhookApi);
  const field = useRef<HTMLInputElement>(null);
  const [url, setUrl] = useState(webhook?.url ?? "");
  const [events, setEvents] = useState<string[]>(webhook?.events ?? ["run.completed", "run.failed"]);
  const [description, setDescription] = useState(webhook?.description ?? "");
  const order = { url: url.trim(), events, description: description.trim() || null };
  const saving = useMutation({
    mutationFn: () => (webhook ? webhookApi.change(at, webhook.id, order) : webhookApi.create(at, order)),
    onSuccess: async (done) => {
      await refresh();
      onDone(done);
    },
    onError: () => field.current?.focus(),
  });
  const fault = faultOf(saving.error, "url");
  const words = webhook ? ["Save webhook", "Saving webhook"] : ["Create webhook", "Creating webhook"];
  const unsaved = useChanged(order) && !saving.isPending;
  return (
    <FormDialog
      open
      unsaved={unsaved}
      onOpenChange={(open) => !open && onClose()}
      title={webhook ? "Edit webhook" : "Create webhook"}
      about={
        <>
          It hears of <b>{at.mode} data</b> of {at.project.name}.
        </>
      }
      act={words[saving.isPending ? 1 : 0]!}
      keep="Cancel"
      busy={saving.isPending || url.trim() === "" || events.length === 0}
      onSubmit={() => saving.mutate()}
    >
      <Field
        ref={field}
        label="Address"
        type="url"
        inputMode="url"
        placeholder="https://example.com/hooks/runnel"
        value={url}
        maxLength={2048}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => {
          setUrl(event.target.value);
          saving.reset();
        }}
        hint={at.mode === "test" ? "https, or http to this machine." : "https. Redirects are not followed."}
        error={fault}
      />
      <EventChoice events={events} onChange={setEvents} />
      <Field
        label="Description (optional)"
        value={description}
        maxLength={1024}
        autoComplete="off"
        onChange={(event) => setDescription(event.target.value)}
        hint="What listens there, for whoever finds it failing."
      />
      <FoldedCode
        name="webhook"
        request={
          webhook
            ? { method: "PATCH", path: `/v1/webhooks/${webhook.id}`, body: order }
            : { method: "POST", path: "/v1/webhooks", body: order }
        }
      />
      {saving.error && !fault && (
        <ErrorNote title={`The webhook was not ${webhook ? "saved" : "created"}`} error={saving.error} />
      )}
    </FormDialog>
  );
}
