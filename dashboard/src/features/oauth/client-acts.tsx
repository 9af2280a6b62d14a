import { useMutation, useQuery } from "@tanstack/react-query";
import { Link2, Pencil, Plug, Trash2 } from "lucide-react";
import { useState } from "react";
import type { OAuthClient } from "../../../../server/domain/api-types/oauth.ts";
import { authorizeAndReturn, oauthClientApi, oauthGrantApi } from "../../entities/oauth/oauth-api.ts";
import { toolApi } from "../../entities/tool/tool-api.ts";
import { plural } from "../../lib/format.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { formatWorkspace } from "../../lib/workspace-address.ts";
import { ActionsMenu } from "../../ui/dialogs/actions-menu.tsx";
import { DeleteDialog } from "../../ui/dialogs/delete-dialog.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { toast, toastFailure } from "../../ui/feedback/toast.ts";
import { Button } from "../../ui/forms/button.tsx";
import { ClientForm } from "./client-form.tsx";
import { ConsentLink } from "./consent-link.tsx";

/** Open dialog of an OAuth client. */
export type ClientAct = { kind: "create" } | { kind: "edit" | "link" | "delete"; client: OAuthClient };

/** Connects an account of the project, or makes the link for a user. Absent for clients that need no consent. */
export function ConnectButton({
  client,
  isConnected,
  onAct,
}: {
  client: OAuthClient;
  isConnected: boolean;
  onAct: (act: ClientAct) => void;
}) {
  const at = useWorkspace();
  const [isLeaving, setIsLeaving] = useState(false);
  const connect = useMutation({
    mutationFn: () => {
      const here = `${location.origin}/dashboard/${formatWorkspace(at)}/oauth_clients/${client.id}`;
      return authorizeAndReturn(at, client.id, here);
    },
    onSuccess: ({ url }) => {
      // The address comes from the metadata of another server.
      if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ""))
        return toastFailure("Not connected", "The URL is no web address.");
      setIsLeaving(true);
      location.assign(url);
    },
    onError: (error) => toastFailure("Not connected", error.message),
  });
  if (client.grant === "client_credentials") return null;
  if (client.per_user)
    return (
      <Button kind="primary" onClick={() => onAct({ kind: "link", client })}>
        <Link2 aria-hidden className="size-4" strokeWidth={1.5} />
        Connect a user
      </Button>
    );
  const isBusy = connect.isPending || isLeaving;
  return (
    <Button kind={isConnected ? "plain" : "primary"} disabled={isBusy} onClick={() => connect.mutate()}>
      <Plug aria-hidden className="size-4" strokeWidth={1.5} />
      {isBusy ? "Connecting" : isConnected ? "Connect again" : "Connect"}
    </Button>
  );
}

/** Menu of an OAuth client's actions. `of`: its name, if there are several menus. */
export function ClientMenu({
  client,
  of,
  onAct,
}: {
  client: OAuthClient;
  of?: string;
  onAct: (act: ClientAct) => void;
}) {
  return (
    <ActionsMenu
      of={of}
      acts={[
        { icon: Pencil, word: "Edit OAuth client", onDo: () => onAct({ kind: "edit", client }) },
        { icon: Trash2, word: "Delete OAuth client", danger: true, onDo: () => onAct({ kind: "delete", client }) },
      ]}
    />
  );
}

/** Dialog of the chosen action. */
export function ClientDialogs({
  act,
  onAct,
  onCreated,
  onDeleted,
}: {
  act: ClientAct | null;
  onAct: (act: ClientAct | null) => void;
  onCreated?: (id: string) => void;
  onDeleted?: () => void;
}) {
  const close = () => onAct(null);
  if (!act) return null;
  switch (act.kind) {
    case "create":
      return (
        <ClientForm
          onClose={close}
          onDone={({ id, name }) => {
            toast("OAuth client created", name);
            close();
            onCreated?.(id);
          }}
        />
      );
    case "edit":
      return (
        <ClientForm
          client={act.client}
          onClose={close}
          onDone={({ name }) => {
            toast("OAuth client saved", name);
            close();
          }}
        />
      );
    case "link":
      return <ConsentLink client={act.client} onClose={close} />;
    case "delete":
      return <DeleteClient client={act.client} onClose={close} onDeleted={onDeleted} />;
  }
}

/** Deletes a client. In live mode, one that tools use requires typing its name. */
function DeleteClient({
  client: { id, name },
  onClose,
  onDeleted,
}: {
  client: OAuthClient;
  onClose: () => void;
  onDeleted?: () => void;
}) {
  const at = useWorkspace();
  const tools = useQuery(toolApi.every(at));
  const users = tools.data?.filter(({ auth }) => auth?.oauth_client_id === id) ?? [];
  return (
    <DeleteDialog
      noun="OAuth client"
      name={name}
      typed={at.mode === "live" && (users.length > 0 || !tools.data)}
      busy={tools.isPending}
      remove={() => oauthClientApi.remove(at, id)}
      gone={oauthClientApi.of(at, id)}
      stale={[oauthClientApi.all(at), oauthGrantApi.all(at)]}
      onClose={onClose}
      onDeleted={onDeleted}
    >
      <p>All its grants are deleted, and their tokens are revoked at the authorization server.</p>
      <p>
        {users.length > 0
          ? `Calls of ${plural(users.length, "tool")} fail: ${users.map((tool) => tool.name).join(", ")}.`
          : tools.data && "No tool uses it."}
      </p>
      <ErrorNote
        title="Could not find out which tools use it"
        error={tools.error}
        onRetry={() => void tools.refetch()}
      />
    </DeleteDialog>
  );
}
