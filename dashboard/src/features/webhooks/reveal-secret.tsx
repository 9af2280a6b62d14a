import type { WebhookWithSecret } from "../../entities/webhook/webhook-api.ts";
import { formatEnd } from "../../lib/format.ts";
import { CodeBlock } from "../../ui/data/code-block.tsx";
import { SecretDialog } from "../../ui/dialogs/secret-dialog.tsx";
import { Callout } from "../../ui/feedback/callout.tsx";

/** Shows a webhook's secret once. */
export function RevealSecret({ made, onStored }: { made: WebhookWithSecret; onStored: () => void }) {
  const until = made.previous_secret_expires_at;
  return (
    <SecretDialog
      title="Save this secret now"
      about={`${new URL(made.url).host} uses it to verify events from this server. You will not see it again.`}
      secret={made.secret}
      variable="WEBHOOK_SECRET"
      onStored={onStored}
    >
      {until && (
        <Callout tone="info">
          Until {formatEnd(Date.parse(until), Date.now())}, each event is signed with the old secret too. Either
          signature is valid.
        </Callout>
      )}
      <div className="flex min-w-0 flex-col gap-2">
        <p>Verify events with any Standard Webhooks library, for example in TypeScript:</p>
        <CodeBlock
          label="TypeScript code"
          code={`import { Webhook } from "standardwebhooks";

const webhook = new Webhook(process.env.WEBHOOK_SECRET!);
const event = webhook.verify(body, headers); // throws unless this server sent it`}
        />
      </div>
    </SecretDialog>
  );
}
