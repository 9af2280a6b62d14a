import { useQuery, useQueryClient } from "@tanstack/react-query";
import { ExternalLink } from "lucide-react";
import { useEffect } from "react";
import type { Connection } from "../../../../server/domain/api-types/console.ts";
import { RedirectAddress } from "../../entities/oauth/redirect-address.tsx";
import { authorizeConnection, connectionsQuery } from "../../entities/server/server-api.ts";
import { useForm } from "../../hooks/use-form.ts";
import { CopyButton } from "../../ui/data/copy-button.tsx";
import { RelativeTime } from "../../ui/data/relative-time.tsx";
import { FormDialog } from "../../ui/dialogs/form-dialog.tsx";
import { Callout } from "../../ui/feedback/callout.tsx";
import { toast } from "../../ui/feedback/toast.ts";
import { buttonClass } from "../../ui/forms/button.tsx";

const poll_ms = 2000;

/** Makes the address at which a person consents to a connection, and waits for the consent. */
export function ConnectConnection({ connection, onClose }: { connection: Connection; onClose: () => void }) {
  const { name, consent } = connection;
  const client = useQueryClient();
  const form = useForm({ first: {}, send: () => authorizeConnection(name) });
  const { result } = form;
  const { data: list = [] } = useQuery({ ...connectionsQuery, refetchInterval: result ? poll_ms : false });
  const latest = list.find((each) => each.name === name && each.source === "stored")?.consent;
  const isConnected = latest?.status === "active" && latest.connected_at !== consent?.connected_at;
  useEffect(() => {
    if (!isConnected) return;
    toast("Connected", name);
    void client.invalidateQueries(connectionsQuery);
    onClose();
  }, [isConnected, name, client, onClose]);
  return (
    <FormDialog
      form={form}
      onClose={onClose}
      title={`Connect ${name}`}
      about="Runs call its models with the account of the person who consents."
      act={result ? "Make another link" : "Make link"}
      acting="Making link"
      actKind={result ? "plain" : "primary"}
      keep="Close"
      failed="No link was made"
    >
      {consent?.error && (
        <Callout tone="warn">
          <p className="wrap-anywhere">{consent.error.message}</p>
        </Callout>
      )}
      <p className="text-sm text-muted">
        The client's redirect address at its authorization server: <RedirectAddress />
      </p>
      {result && (
        <Callout tone="info" role="status">
          <p>Open this link, and consent. Waiting for the consent…</p>
          <span className="flex min-w-0 flex-wrap items-center gap-2 py-1">
            <a
              href={result.url}
              target="_blank"
              rel="noopener noreferrer"
              className={buttonClass({ kind: "primary", size: "sm" })}
            >
              <ExternalLink aria-hidden className="size-3.5" strokeWidth={1.5} />
              Open link
            </a>
            <CopyButton text={result.url} what="the link" />
          </span>
          <p className="text-xs text-muted">
            It works once. Expires <RelativeTime at={result.expires_at} />.
          </p>
        </Callout>
      )}
    </FormDialog>
  );
}
