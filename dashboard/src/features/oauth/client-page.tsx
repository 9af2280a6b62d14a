import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { OAuthClient } from "../../../../server/domain/api-types/oauth.ts";
import { ObjectHead } from "../../entities/crud/object-head.tsx";
import { ObjectPage, type ObjectPageProps } from "../../entities/crud/object-page.tsx";
import { grantsQuery, oauthClientApi } from "../../entities/oauth/oauth-api.ts";
import type { OAuthClientSearch } from "../../entities/oauth/read-oauth-search.ts";
import { RedirectAddress } from "../../entities/oauth/redirect-address.tsx";
import { useWorkspace } from "../../lib/workspace.ts";
import { Badge } from "../../ui/data/badge.tsx";
import { Description, IdDescription } from "../../ui/data/description-list.tsx";
import { Time } from "../../ui/data/time.tsx";
import { Callout } from "../../ui/feedback/callout.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { type ClientAct, ClientDialogs, ClientMenu, ConnectButton } from "./client-acts.tsx";
import { actorOf, actors, failureWords, serverOf } from "./client-words.ts";
import { Grants } from "./grants.tsx";

/** Page of one OAuth client with its grants. */
export function ClientPage({ id, search, onSearch, onLookIn, onLeave }: ObjectPageProps<OAuthClientSearch>) {
  const read = useQuery(oauthClientApi.one(useWorkspace(), id));
  const [act, setAct] = useState<ClientAct | null>(null);
  return (
    <ObjectPage object={read} noun="OAuth client" list="/oauth_clients" id={id} onLookIn={onLookIn}>
      {(client, stale) => (
        <>
          <ClientHead client={client} onAct={setAct} />
          {stale}
          <Outcome client={client} search={search} onSeen={() => onSearch({})} />
          <Grants client={client} actor={actorOf(client)} search={search} onSearch={onSearch} />
          <ClientDialogs act={act} onAct={setAct} onDeleted={onLeave} />
        </>
      )}
    </ObjectPage>
  );
}

function ClientHead({ client, onAct }: { client: OAuthClient; onAct: (act: ClientAct) => void }) {
  const { id, name, client_id, scopes, mcp_server_url, updated_at } = client;
  const isConnected = useIsConnected(client) === true;
  return (
    <ObjectHead
      list="/oauth_clients"
      name={name}
      pills={<Badge>{actors[actorOf(client)].label}</Badge>}
      acts={
        <>
          <ConnectButton client={client} isConnected={isConnected} onAct={onAct} />
          <ClientMenu client={client} onAct={onAct} />
        </>
      }
    >
      <IdDescription noun="OAuth client" id={id} />
      <Description name="Server">
        <span className="cut" title={client.issuer ?? client.token_endpoint ?? undefined}>
          {serverOf(client)}
        </span>
      </Description>
      <Description name="Client ID">
        <code className="cut" title={client_id}>
          {client_id}
        </code>
      </Description>
      <Description name="Secret">{client.has_client_secret ? "stored" : "none"}</Description>
      {scopes.length > 0 && (
        <Description name="Scopes">
          <span className="cut" title={scopes.join(" ")}>
            {scopes.join(" ")}
          </span>
        </Description>
      )}
      {mcp_server_url !== null && (
        <Description name="MCP server">
          <span className="cut" title={mcp_server_url}>
            {mcp_server_url}
          </span>
        </Description>
      )}
      {client.grant === "authorization_code" && (
        <Description name="Redirect address">
          <RedirectAddress />
        </Description>
      )}
      <Description name="Updated">
        <Time at={updated_at} />
      </Description>
    </ObjectHead>
  );
}

/** True if the project has a usable grant; undefined until that is known. */
function useIsConnected(client: OAuthClient): boolean | undefined {
  const { data } = useQuery({ ...grantsQuery(useWorkspace(), client.id, {}), enabled: !client.per_user });
  return data?.data.some(({ user_id, status }) => user_id === null && status === "active");
}

/** How a consent ended from which the person came back. A success that the grants do not confirm is not shown. */
function Outcome({
  client,
  search: { oauth, oauth_error },
  onSeen,
}: {
  client: OAuthClient;
  search: OAuthClientSearch;
  onSeen: () => void;
}) {
  const isConnected = useIsConnected(client);
  if (oauth === undefined || (oauth === "granted" && !isConnected)) return null;
  const isGranted = oauth === "granted";
  return (
    <div className="border-b border-line px-4 py-3 rail:px-5">
      <Callout tone={isGranted ? "ok" : "bad"} role="status">
        <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
          <p className="min-w-60 flex-1">
            <b>{isGranted ? `${client.name} is connected` : `${client.name} was not connected`}</b>
            <span className="block">
              {isGranted ? "Tools that use this client can be called now." : failureWords(oauth_error)}
            </span>
          </p>
          <Button size="sm" onClick={onSeen}>
            OK
          </Button>
        </div>
      </Callout>
    </div>
  );
}
