import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Blocks, FileDown, KeyRound, Wrench } from "lucide-react";
import { lazy, useState } from "react";
import type { Tool } from "../../../../server/resources/tools/schema.ts";
import { ListPage } from "../../entities/crud/list-page.tsx";
import { ImportBundle } from "../../entities/import-export/import-bundle.tsx";
import { usePermission } from "../../entities/session/use-may.ts";
import { approvalWords, toolsQuery, usersQuery } from "../../entities/tool/tool-api.ts";
import { toolTypeWord } from "../../entities/tool/tool-words.ts";
import type { ToolsSearch } from "../../entities/tool/tools-search.ts";
import { ActivityCells, activityColumns, useActivity } from "../../entities/usage/activity.tsx";
import type { Activity } from "../../entities/usage/activity-of.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Badge } from "../../ui/data/badge.tsx";
import { Cell, Row, rowLink, SecondLine } from "../../ui/data/table.tsx";
import { Time } from "../../ui/data/time.tsx";
import { LazyBoundary } from "../../ui/feedback/lazy-boundary.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { Chip } from "../../ui/forms/chip.tsx";
import { CatalogDialog } from "./catalog-dialog.tsx";
import { SecretsDialog } from "./secrets-dialog.tsx";
import { toolParts, toolTypeOrder } from "./types/tool-parts.ts";

const ImportApiDialog = lazy(() =>
  import("./import-api/import-api-dialog.tsx").then((loaded) => ({ default: loaded.ImportApiDialog })),
);

const columns = [
  { label: "Name" },
  { label: "Type" },
  { label: "Approval" },
  { label: "Used by" },
  ...activityColumns("Calls"),
  { label: "Updated" },
];

/** List of tools in a workspace. */
export function ToolsPage({ search, onSearch }: { search: ToolsSearch; onSearch: (search: ToolsSearch) => void }) {
  const at = useWorkspace();
  const list = useQuery(toolsQuery(at, search));
  const users = useQuery(usersQuery(at));
  const activityOf = useActivity("tool");
  const may = usePermission("member");
  const [secrets, setSecrets] = useState(false);
  const [catalog, setCatalog] = useState(false);
  const [api, setApi] = useState(false);
  return (
    <>
      <ListPage
        title="Tools"
        noun="tool"
        list={list}
        columns={columns}
        search={search}
        onSearch={onSearch}
        row={(tool) => (
          <ToolRow
            key={tool.id}
            tool={tool}
            users={users.data && (users.data.users[tool.id] ?? [])}
            activity={activityOf(tool.name)}
          />
        )}
        acts={
          <>
            {may && (
              <Button kind="ghost" onClick={() => setCatalog(true)}>
                <Blocks aria-hidden className="size-4" strokeWidth={1.5} />
                Catalogue
              </Button>
            )}
            {may && (
              <Button kind="ghost" onClick={() => setApi(true)}>
                <FileDown aria-hidden className="size-4" strokeWidth={1.5} />
                Import API
              </Button>
            )}
            <ImportBundle />
            <Button kind="ghost" onClick={() => setSecrets(true)}>
              <KeyRound aria-hidden className="size-4" strokeWidth={1.5} />
              Secrets
            </Button>
          </>
        }
        searchBy="name"
        filters={
          <Chip
            name="Type"
            value={search.type}
            choices={toolTypeOrder.map((value) => ({ value, label: toolTypeWord(value), word: toolTypeWord(value) }))}
            onChange={(type) => onSearch({ q: search.q, type })}
          />
        }
        create={{ act: "Create tool", first: "Create the first tool", to: "/tools/new" }}
        empty={{
          icon: Wrench,
          title: "No tools yet",
          about:
            "Agents call tools: your own code, a URL, sandboxed code, an MCP server or another agent. The catalogue has ready ones, and an OpenAPI document becomes many.",
        }}
      />
      {catalog && <CatalogDialog onClose={() => setCatalog(false)} />}
      {api && (
        <LazyBoundary>
          <ImportApiDialog onClose={() => setApi(false)} />
        </LazyBoundary>
      )}
      {secrets && <SecretsDialog onClose={() => setSecrets(false)} />}
    </>
  );
}

function ToolRow({
  tool,
  users,
  activity,
}: {
  tool: Tool;
  users: readonly { name: string }[] | undefined;
  activity: Activity | null;
}) {
  const { id, name, description, type, last_error } = tool;
  const { target } = toolParts[type];
  const names = users?.map((agent) => agent.name).join(", ");
  return (
    <Row>
      <Cell main>
        <span className="flex min-w-0 items-center gap-2">
          <Link to="/tools/$toolId" params={{ toolId: id }} data-row title={name} className={rowLink}>
            {name}
          </Link>
          {!tool.enabled && <Badge>off</Badge>}
        </span>
        <SecondLine title={description} tone={last_error ? "text-warn" : undefined}>
          {last_error ? troubleOf(last_error) : description || target(tool)}
        </SecondLine>
      </Cell>
      <Cell>
        <Badge title={target(tool)}>{toolTypeWord(type)}</Badge>
      </Cell>
      <Cell className="whitespace-nowrap">{approvalWords(tool.approval)}</Cell>
      <Cell>
        <span className="cut block rail:max-w-50" title={names}>
          {users === undefined ? "–" : names || "No agent"}
        </span>
      </Cell>
      <ActivityCells activity={activity} />
      <Cell className="whitespace-nowrap rail:text-muted">
        <Time at={tool.updated_at} />
      </Cell>
    </Row>
  );
}

const troubleOf = ({ code, message }: NonNullable<Tool["last_error"]>): string =>
  code === "authorization_required" ? "No account is connected yet" : `The server does not respond: ${message}`;
