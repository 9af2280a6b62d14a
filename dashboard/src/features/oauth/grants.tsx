import { useQuery } from "@tanstack/react-query";
import { UserCheck } from "lucide-react";
import { useState } from "react";
import type { OAuthClient, OAuthGrant } from "../../../../server/domain/api-types/oauth.ts";
import { ListRows } from "../../entities/crud/list-page.tsx";
import { grantsQuery, oauthGrantApi } from "../../entities/oauth/oauth-api.ts";
import type { OAuthClientSearch } from "../../entities/oauth/read-oauth-search.ts";
import { usePermission } from "../../entities/session/use-may.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { RelativeTime } from "../../ui/data/relative-time.tsx";
import { Cell, Row, RowActs, SecondLine } from "../../ui/data/table.tsx";
import { Time } from "../../ui/data/time.tsx";
import { ActionDialog } from "../../ui/dialogs/action-dialog.tsx";
import { SheetBar } from "../../ui/dialogs/sheet.tsx";
import { toast } from "../../ui/feedback/toast.ts";
import { Button } from "../../ui/forms/button.tsx";
import { TextChip } from "../../ui/forms/text-chip.tsx";
import { GrantPill } from "./grant-pill.tsx";

const columns = [
  { label: "User" },
  { label: "Status" },
  { label: "Token expires" },
  { label: "Refreshed", folds: true },
  { label: "Consented", folds: true },
  { label: "Actions", silent: true },
];

const about = {
  users: "A user consents when a run waits for it, or at a link that you make here.",
  project: "Connect an account: all runs of the tools use it.",
  itself: "The first call of a tool gets a token.",
};

/** Grants of a client, each with its revocation. */
export function Grants({
  client,
  actor,
  search,
  onSearch,
}: {
  client: OAuthClient;
  actor: keyof typeof about;
  search: OAuthClientSearch;
  onSearch: (search: OAuthClientSearch) => void;
}) {
  const list = useQuery(grantsQuery(useWorkspace(), client.id, search));
  const [revoked, setRevoked] = useState<OAuthGrant | null>(null);
  const { oauth: _, oauth_error: __, ...place } = search;
  return (
    <>
      {client.per_user && (
        <SheetBar>
          <TextChip
            name="User"
            value={search.user}
            placeholder="ada"
            hint="The user_id of the user's runs."
            onChange={(user) => onSearch({ user })}
          />
        </SheetBar>
      )}
      <ListRows
        noun="grant"
        label="Grants"
        list={list}
        columns={columns}
        search={place}
        onSearch={onSearch}
        row={(grant) => <GrantRow key={grant.id} grant={grant} onRevoke={() => setRevoked(grant)} />}
        empty={{ icon: UserCheck, title: "No grants yet", about: about[actor] }}
      />
      {revoked && <RevokeGrant grant={revoked} client={client} onClose={() => setRevoked(null)} />}
    </>
  );
}

function GrantRow({ grant, onRevoke }: { grant: OAuthGrant; onRevoke: () => void }) {
  const { user_id, scopes, error, expires_at, refreshed_at, created_at } = grant;
  const may = usePermission("member");
  const who = user_id ?? "The project";
  const line = error ? error.message : scopes.join(" ");
  return (
    <Row stops data-grant={grant.id}>
      <Cell main>
        <span className="cut block font-medium" title={who}>
          {who}
        </span>
        {line && (
          <SecondLine title={line} tone={error ? "text-bad" : "text-muted"}>
            {line}
          </SecondLine>
        )}
      </Cell>
      <Cell>
        <GrantPill grant={grant} />
      </Cell>
      <Cell className="whitespace-nowrap">
        {expires_at === null ? (
          "Never"
        ) : Date.parse(expires_at) > Date.now() ? (
          <RelativeTime at={expires_at} />
        ) : (
          <Time at={expires_at} />
        )}
      </Cell>
      <Cell folds className="whitespace-nowrap max-rail:hidden">
        {refreshed_at ? <Time at={refreshed_at} /> : "–"}
      </Cell>
      <Cell folds className="whitespace-nowrap max-rail:hidden">
        <Time at={created_at} />
      </Cell>
      <Cell right className="max-rail:ml-auto rail:w-px">
        {may && (
          <RowActs>
            <Button size="sm" kind="ghost" onClick={onRevoke}>
              Revoke<span className="sr-only"> the grant of {who}</span>
            </Button>
          </RowActs>
        )}
      </Cell>
    </Row>
  );
}

function RevokeGrant({ grant, client, onClose }: { grant: OAuthGrant; client: OAuthClient; onClose: () => void }) {
  const at = useWorkspace();
  const who = grant.user_id ?? "the project";
  return (
    <ActionDialog
      title={`Revoke the grant of ${who}`}
      act="Revoke grant"
      acting="Revoking"
      refused="The grant was not revoked"
      run={() => oauthGrantApi.remove(at, grant.id)}
      stale={[oauthGrantApi.all(at)]}
      onDone={() => toast("Grant revoked", who)}
      onClose={onClose}
    >
      Its tokens are deleted here and revoked at {client.name}.{" "}
      {client.grant === "client_credentials"
        ? "The next call of a tool gets a new one."
        : "Runs that need the account wait for a new consent."}
    </ActionDialog>
  );
}
