import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Plug } from "lucide-react";
import { useState } from "react";
import type { OAuthClient } from "../../../../server/domain/api-types/oauth.ts";
import { ListPage } from "../../entities/crud/list-page.tsx";
import { oauthClientApi } from "../../entities/oauth/oauth-api.ts";
import { usePermission } from "../../entities/session/use-may.ts";
import type { NamedSearch } from "../../lib/page-search.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Badge } from "../../ui/data/badge.tsx";
import { Cell, Row, RowActs, rowLink, SecondLine } from "../../ui/data/table.tsx";
import { Time } from "../../ui/data/time.tsx";
import { type ClientAct, ClientDialogs, ClientMenu } from "./client-acts.tsx";
import { actorOf, actors, serverOf } from "./client-words.ts";

const columns = [
  { label: "Name" },
  { label: "Acts for" },
  { label: "Scopes", folds: true },
  { label: "Updated" },
  { label: "Actions", silent: true },
];

/** OAuth clients of a workspace. */
export function ClientsPage({
  search,
  onSearch,
  onOpen,
}: {
  search: NamedSearch;
  onSearch: (search: NamedSearch) => void;
  onOpen: (id: string) => void;
}) {
  const at = useWorkspace();
  const list = useQuery(oauthClientApi.page(at, search));
  const [act, setAct] = useState<ClientAct | null>(null);
  return (
    <>
      <ListPage
        title="OAuth clients"
        noun="OAuth client"
        list={list}
        columns={columns}
        search={search}
        onSearch={onSearch}
        row={(client) => <ClientRow key={client.id} client={client} onAct={setAct} />}
        searchBy="name"
        create={{ act: "Create OAuth client", onCreate: () => setAct({ kind: "create" }) }}
        empty={{
          icon: Plug,
          title: `No ${at.mode} OAuth clients yet`,
          about:
            "With an OAuth client, tools call services with OAuth tokens: those of the project, or those of the user of the run. MCP servers can register their client by themselves.",
        }}
      />
      <ClientDialogs act={act} onAct={setAct} onCreated={onOpen} />
    </>
  );
}

function ClientRow({ client, onAct }: { client: OAuthClient; onAct: (act: ClientAct) => void }) {
  const { id, name, scopes, mcp_server_url, updated_at } = client;
  const may = usePermission("member");
  const line = mcp_server_url ?? serverOf(client);
  return (
    <Row data-oauth-client={id}>
      <Cell main>
        <Link
          to="/oauth_clients/$oauthClientId"
          params={{ oauthClientId: id }}
          data-row
          title={name}
          className={`${rowLink} font-medium`}
        >
          {name}
        </Link>
        <SecondLine title={line}>{line}</SecondLine>
      </Cell>
      <Cell>
        <Badge>{actors[actorOf(client)].label}</Badge>
      </Cell>
      <Cell folds className="max-rail:hidden">
        <span className="cut block rail:max-w-50" title={scopes.join(" ")}>
          {scopes.join(" ") || "–"}
        </span>
      </Cell>
      <Cell className="whitespace-nowrap">
        <Time at={updated_at} />
      </Cell>
      <Cell right className="max-rail:ml-auto rail:w-px">
        {may && (
          <RowActs>
            <ClientMenu client={client} of={name} onAct={onAct} />
          </RowActs>
        )}
      </Cell>
    </Row>
  );
}
