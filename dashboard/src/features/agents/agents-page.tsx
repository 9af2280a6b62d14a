import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Bot } from "lucide-react";
import type { AgentListItem as ListedAgent } from "../../../../server/resources/agents/schema.ts";
import { agentApi } from "../../entities/agent/agent-api.ts";
import { ListPage } from "../../entities/crud/list-page.tsx";
import { ImportBundle } from "../../entities/import-export/import-bundle.tsx";
import { usePermission } from "../../entities/session/use-may.ts";
import { ActivityCells, activityColumns, useActivity } from "../../entities/usage/activity.tsx";
import type { Activity } from "../../entities/usage/activity-of.ts";
import type { NamedSearch } from "../../lib/page-search.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Cell, Row, RowActs, rowLink, SecondLine } from "../../ui/data/table.tsx";
import { Time } from "../../ui/data/time.tsx";
import { buttonClass } from "../../ui/forms/button.tsx";

const columns = [
  { label: "Name" },
  { label: "Model" },
  { label: "Tools", right: true },
  { label: "Version", right: true },
  ...activityColumns("Runs"),
  { label: "Updated" },
  { label: "Actions", silent: true },
];

/** All agents of a project and mode. */
export function AgentsPage({ search, onSearch }: { search: NamedSearch; onSearch: (search: NamedSearch) => void }) {
  const activityOf = useActivity("agent");
  const list = useQuery(agentApi.page(useWorkspace(), search));
  return (
    <ListPage
      title="Agents"
      noun="agent"
      list={list}
      columns={columns}
      search={search}
      onSearch={onSearch}
      row={(agent) => <AgentRow key={agent.id} agent={agent} activity={activityOf(agent.id)} />}
      searchBy="name"
      acts={<ImportBundle />}
      create={{ act: "Create agent", first: "Create the first agent", to: "/agents/new" }}
      empty={{
        icon: Bot,
        title: "No agents yet",
        about:
          "An agent is a model with instructions and tools. Each change saves a new version; runs keep the version they started with.",
      }}
    />
  );
}

/** An agent in the list. The whole row is a link. */
function AgentRow({ agent, activity }: { agent: ListedAgent; activity: Activity | null }) {
  const { id, name, description, model, tools_count, version, updated_at } = agent;
  const mayTry = usePermission("member");
  return (
    <Row>
      <Cell main>
        <Link to="/agents/$agentId" params={{ agentId: id }} data-row title={name} className={rowLink}>
          {name}
        </Link>
        <SecondLine title={description ?? undefined}>{description || id}</SecondLine>
      </Cell>
      <Cell className="max-w-full">
        <code className="cut block rail:max-w-60" title={model}>
          {model}
        </code>
      </Cell>
      <Cell right>
        {tools_count}
        <span className="rail:hidden"> {tools_count === 1 ? "tool" : "tools"}</span>
      </Cell>
      <Cell right>v{version}</Cell>
      <ActivityCells activity={activity} />
      <Cell className="whitespace-nowrap rail:text-muted">
        <Time at={updated_at} />
      </Cell>
      <Cell right className="max-rail:ml-auto">
        <RowActs>
          {mayTry && (
            <Link
              to="/playground"
              search={{ agent: id }}
              className={buttonClass({ kind: "ghost", size: "sm" })}
              aria-label={`Try ${name} in the playground`}
            >
              Try
            </Link>
          )}
        </RowActs>
      </Cell>
    </Row>
  );
}
