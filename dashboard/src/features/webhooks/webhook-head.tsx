import { Link } from "@tanstack/react-router";
import { Send } from "lucide-react";
import type { Webhook } from "../../../../server/wire/webhook.ts";
import { Breadcrumb } from "../../ui/breadcrumb.tsx";
import { Button } from "../../ui/button.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Fact, Facts } from "../../ui/facts.tsx";
import { ModePill } from "../../ui/mode-pill.tsx";
import { Note } from "../../ui/note.tsx";
import { SheetHead } from "../../ui/sheet.tsx";
import { Time } from "../../ui/time.tsx";
import { Until } from "../../ui/until.tsx";
import { ViewOnly } from "../../ui/view-only.tsx";
import { useSwitchWebhook, useTestWebhook, type WebhookAct } from "./webhook-acts.ts";
import { WebhookMenu } from "./webhook-menu.tsx";
import { WebhookPill } from "./webhook-pill.tsx";
import { whyDisabled } from "./why-disabled.ts";

/** Which webhook this is, how it stands, and why it hears nothing. */
export function WebhookHead({
  webhook,
  mayChange,
  onAct,
  onTested,
}: {
  webhook: Webhook;
  mayChange: boolean;
  onAct: (act: WebhookAct) => void;
  onTested: (deliveryId: string) => void;
}) {
  const test = useTestWebhook();
  const switching = useSwitchWebhook();
  const trouble = whyDisabled(webhook);
  return (
    <>
      <SheetHead>
        <Breadcrumb>
          <Link to="/webhooks">Webhooks</Link>
        </Breadcrumb>
        <h1 className="cut text-lg max-rail:w-full" title={webhook.url}>
          {webhook.url}
        </h1>
        <WebhookPill webhook={webhook} />
        <ModePill />
        <span className="ml-auto flex items-center gap-1">
          {mayChange ? (
            <>
              <Button
                disabled={test.isPending}
                onClick={() => test.mutate(webhook.id, { onSuccess: ({ id }) => onTested(id) })}
              >
                <Send aria-hidden className="size-4" strokeWidth={1.5} />
                {test.isPending ? "Sending test" : "Send test"}
              </Button>
              <WebhookMenu webhook={webhook} onAct={onAct} />
            </>
          ) : (
            <ViewOnly />
          )}
        </span>
        <Facts>
          <Fact name="Webhook">
            <code className="cut">{webhook.id}</code>
            <CopyButton text={webhook.id} what="webhook id" />
          </Fact>
          <Fact name="Hears of">
            <span className="cut" title={webhook.events.join(", ")}>
              {webhook.events.includes("*") ? "all events" : webhook.events.join(", ")}
            </span>
          </Fact>
          <Fact name="Secret">
            <code>{webhook.secret_prefix}…</code>
          </Fact>
          {webhook.previous_secret_expires_at && Date.parse(webhook.previous_secret_expires_at) > Date.now() && (
            <Fact name="Old secret signs until">
              <Until at={webhook.previous_secret_expires_at} />
            </Fact>
          )}
          <Fact name="Last attempt">{webhook.last_delivery_at ? <Time at={webhook.last_delivery_at} /> : "–"}</Fact>
          {webhook.description && (
            <Fact name="For">
              <span className="cut" title={webhook.description}>
                {webhook.description}
              </span>
            </Fact>
          )}
        </Facts>
      </SheetHead>
      {(trouble || test.error) && (
        <div className="flex flex-col gap-2 border-b border-line px-4 py-3 rail:px-5">
          {trouble && (
            <Note
              tone={webhook.status === "failing" ? "warn" : webhook.disabled_reason === "requested" ? "info" : "bad"}
            >
              <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
                <p className="min-w-60 flex-1">{trouble}</p>
                {mayChange && !webhook.enabled && (
                  <Button
                    size="sm"
                    disabled={switching.isPending}
                    onClick={() => switching.mutate({ id: webhook.id, enabled: true })}
                  >
                    Switch on
                  </Button>
                )}
              </div>
            </Note>
          )}
          {test.error && <ErrorNote title="The test event was not sent" error={test.error} />}
        </div>
      )}
    </>
  );
}
