import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { KeyRound, ListFilter, Plus, Wrench } from "lucide-react";
import { useRef, useState } from "react";
import type { Tool } from "../../../../server/wire/tool.ts";
import { useMay } from "../../entities/session/use-may.ts";
import { approvalWords, toolsQuery, usersQuery } from "../../entities/tool/tool-api.ts";
import type { ToolsSearch } from "../../entities/tool/tools-search.ts";
import { useKeys } from "../../lib/use-keys.ts";
import { useRowKeys } from "../../lib/use-row-keys.ts";
import { useTitle } from "../../lib/use-title.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button, buttonClass } from "../../ui/button.tsx";
import { Chip } from "../../ui/chip.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { ModePill } from "../../ui/mode-pill.tsx";
import { Paging } from "../../ui/paging.tsx";
import { SheetBar, SheetHead } from "../../ui/sheet.tsx";
import { Cell, Row, rowLink, SecondLine, Table, TableSkeleton } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { ViewOnly } from "../../ui/view-only.tsx";
import { SecretsDialog } from "./secrets-dialog.tsx";
import { shownTypes, toolParts } from "./types/tool-parts.ts";

const columns = [
  { label: "Name" },
  { label: "Type" },
  { label: "Before a call" },
  { label: "Used by" },
  { label: "Changed" },
];

interface ToolsPageProps {
  search: ToolsSearch;
  onSearch: (search: ToolsSearch) => void;
}

/** All tools of a project and mode. */
export function ToolsPage({ search, onSearch }: ToolsPageProps) {
  const at = useWorkspace();
  const may = useMay("member");
  const navigate = useNavigate();
  const body = useRef<HTMLDivElement>(null);
  const page = useQuery(toolsQuery(at, search));
  const users = useQuery(usersQuery(at));
  const [secrets, setSecrets] = useState(false);
  useTitle("Tools", at.project.name);
  useRowKeys(body);
  useKeys({ c: () => void navigate({ to: "/tools/new" }) }, may);
  const tools = page.data?.data;
  return (
    <>
      <SheetHead>
        <h1 className="text-lg">Tools</h1>
        <ModePill />
        <div className="ml-auto flex items-center gap-2">
          <Button kind="ghost" onClick={() => setSecrets(true)}>
            <KeyRound aria-hidden className="size-4" strokeWidth={1.5} />
            Secrets
          </Button>
          {may ? (
            <Link to="/tools/new" className={buttonClass({ kind: "primary" })}>
              <Plus aria-hidden className="size-4" strokeWidth={1.5} />
              Create tool
            </Link>
          ) : (
            <ViewOnly />
          )}
        </div>
      </SheetHead>
      <SheetBar>
        <Chip
          name="Type"
          value={search.type}
          choices={shownTypes.map((value) => ({ value, label: toolParts[value].word, word: toolParts[value].word }))}
          onChange={(type) => onSearch(type ? { type } : {})}
        />
      </SheetBar>
      {page.error && (
        <div className="px-4 pt-3 rail:px-5">
          <ErrorNote title="The tools cannot be shown" error={page.error} onRetry={() => void page.refetch()} />
        </div>
      )}
      <section ref={body} aria-label="Tools" className="relative min-h-0 flex-1 overflow-y-auto">
        {page.isPending && <TableSkeleton />}
        {tools && tools.length > 0 && (
          <Table label="Tools" columns={columns}>
            {tools.map((tool) => (
              <ToolRow key={tool.id} tool={tool} users={users.data && (users.data.users[tool.id] ?? [])} />
            ))}
          </Table>
        )}
        {tools?.length === 0 && <NoTools search={search} may={may} onClear={() => onSearch({})} />}
      </section>
      <Paging
        noun="tool"
        page={page.data}
        search={search}
        onPage={(next) => onSearch({ ...(search.type && { type: search.type }), ...next })}
      />
      {secrets && <SecretsDialog onClose={() => setSecrets(false)} />}
    </>
  );
}

function ToolRow({ tool, users }: { tool: Tool; users: readonly { name: string }[] | undefined }) {
  const names = users?.map(({ name }) => name).join(", ");
  return (
    <Row>
      <Cell main>
        <span className="flex min-w-0 items-center gap-2">
          <Link to="/tools/$toolId" params={{ toolId: tool.id }} data-row title={tool.name} className={rowLink}>
            {tool.name}
          </Link>
          {!tool.enabled && <Badge>off</Badge>}
        </span>
        <SecondLine title={tool.description} tone={tool.last_error ? "text-warn" : undefined}>
          {tool.last_error
            ? `The server does not answer: ${tool.last_error.message}`
            : tool.description || toolParts[tool.type].target(tool)}
        </SecondLine>
      </Cell>
      <Cell>
        <Badge title={toolParts[tool.type].target(tool)}>{toolParts[tool.type].word}</Badge>
      </Cell>
      <Cell className="whitespace-nowrap">{approvalWords(tool.approval)}</Cell>
      <Cell>
        <span className="cut block rail:max-w-50" title={names}>
          {users === undefined ? "–" : names || "No agent"}
        </span>
      </Cell>
      <Cell className="whitespace-nowrap rail:text-muted">
        <Time at={tool.updated_at} />
      </Cell>
    </Row>
  );
}

function NoTools({ search, may, onClear }: { search: ToolsSearch; may: boolean; onClear: () => void }) {
  if (search.type || search.after || search.before)
    return (
      <EmptyState icon={ListFilter} title="No tool matches this filter">
        <Button onClick={onClear}>Clear filter</Button>
      </EmptyState>
    );
  return (
    <EmptyState icon={Wrench} title="No tools yet">
      <p className="max-w-[46ch] text-muted">
        A tool is what an agent may call: your own code, an address, a program in the sandbox, an MCP server, or another
        agent.
      </p>
      {may && (
        <Link to="/tools/new" className={buttonClass({ kind: "primary" })}>
          Create the first tool
        </Link>
      )}
    </EmptyState>
  );
}
