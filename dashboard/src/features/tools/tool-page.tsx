import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Trash2 } from "lucide-react";
import { useState } from "react";
import type { Environment as Mode } from "../../../../server/domain/scope.ts";
import type { Tool } from "../../../../server/resources/tools/schema.ts";
import { agentApi } from "../../entities/agent/agent-api.ts";
import { ObjectHead } from "../../entities/crud/object-head.tsx";
import { ObjectPage } from "../../entities/crud/object-page.tsx";
import { useTransferActions } from "../../entities/import-export/use-carry.tsx";
import { toolApi, usersQuery } from "../../entities/tool/tool-api.ts";
import { toolTypeWord } from "../../entities/tool/tool-words.ts";
import type { ToolSearch } from "../../entities/tool/tools-search.ts";
import { plural, unknownText } from "../../lib/format.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Badge } from "../../ui/data/badge.tsx";
import { Description, IdDescription } from "../../ui/data/description-list.tsx";
import { Tabs } from "../../ui/data/tabs.tsx";
import { Time } from "../../ui/data/time.tsx";
import { ActionsMenu } from "../../ui/dialogs/actions-menu.tsx";
import { DeleteDialog } from "../../ui/dialogs/delete-dialog.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { LazyBoundary } from "../../ui/feedback/lazy-boundary.tsx";
import { lazyPart } from "../../ui/lazy-part.ts";
import { ToolDefinition } from "./tool-definition.tsx";
import { ToolTest } from "./tool-test.tsx";

/** Lazy, because of its charts. */
const ToolAnalytics = lazyPart(() => import("./tool-analytics.tsx").then((it) => ({ default: it.ToolAnalytics })));

interface ToolPageProps {
  id: string;
  search: ToolSearch;
  onSearch: (search: ToolSearch) => void;
  onLookIn: (mode: Mode) => void;
  onLeave: () => void;
}

/** Page of one tool: definition, agents that use it, test and analytics. */
export function ToolPage({ id, search, onSearch, onLookIn, onLeave }: ToolPageProps) {
  const { tab = "definition" } = search;
  const toolResult = useQuery(toolApi.one(useWorkspace(), id));
  return (
    <ObjectPage object={toolResult} noun="tool" keepsOpen list="/tools" id={id} onLookIn={onLookIn}>
      {(tool) => (
        <>
          <ToolHead tool={tool} onLeave={onLeave} />
          <Tabs
            label="Tool"
            value={tab}
            tabs={[
              { value: "definition", label: "Definition" },
              { value: "test", label: "Test" },
              { value: "analytics", label: "Analytics" },
            ]}
            onChange={(next) => onSearch(next === "definition" ? {} : { tab: next })}
          >
            {tab === "definition" && <ToolDefinition key={id} tool={tool} />}
            {tab === "test" && (
              <ToolTest
                key={`${id} ${search.tool}`}
                tool={tool}
                serverTool={search.tool}
                onServerTool={(name) => onSearch({ tab: "test", tool: name })}
              />
            )}
            {tab === "analytics" && (
              <LazyBoundary>
                <ToolAnalytics tool={tool} search={search} onPeriod={(period) => onSearch({ tab, ...period })} />
              </LazyBoundary>
            )}
          </Tabs>
        </>
      )}
    </ObjectPage>
  );
}

function ToolHead({ tool, onLeave }: { tool: Tool; onLeave: () => void }) {
  const [deleting, setDeleting] = useState(false);
  const { acts, dialog } = useTransferActions({ tool });
  return (
    <>
      <ObjectHead
        list="/tools"
        name={tool.name}
        pills={
          <>
            <Badge>{toolTypeWord(tool.type)}</Badge>
            {!tool.enabled && <Badge>off</Badge>}
          </>
        }
        acts={
          <ActionsMenu
            acts={[...acts, { icon: Trash2, word: "Delete tool", danger: true, onDo: () => setDeleting(true) }]}
          />
        }
      >
        <IdDescription noun="tool" id={tool.id} />
        <Description name="Updated">
          <Time at={tool.updated_at} />
        </Description>
        <ToolUsers tool={tool} />
      </ObjectHead>
      {dialog}
      {deleting && <DeleteTool tool={tool} onClose={() => setDeleting(false)} onDeleted={onLeave} />}
    </>
  );
}

/** Deletes a tool. In live mode, a tool that agents use requires typing its name. */
function DeleteTool({ tool, onClose, onDeleted }: { tool: Tool; onClose: () => void; onDeleted: () => void }) {
  const at = useWorkspace();
  const usersResult = useQuery(usersQuery(at));
  const users = usersResult.data?.users[tool.id] ?? [];
  const mayHaveUsers = users.length > 0 || !usersResult.data?.isWhole;
  return (
    <DeleteDialog
      noun="tool"
      name={tool.name}
      typed={at.mode === "live" && mayHaveUsers}
      busy={usersResult.isPending}
      remove={() => toolApi.remove(at, tool.id)}
      gone={toolApi.of(at, tool.id)}
      stale={[toolApi.all(at), agentApi.all(at)]}
      onClose={onClose}
      onDeleted={onDeleted}
    >
      <p>
        {users.length > 0 &&
          `${plural(users.length, "agent")} lose${users.length === 1 ? "s" : ""} it: ${users.map(({ name }) => name).join(", ")}. `}
        {usersResult.data?.isWhole === false && "Not all agents were checked: more agents may lose it. "}
        {!mayHaveUsers && "No agent uses it. "}
        Runs in progress keep it.
      </p>
      <ErrorNote
        title="Could not find out which agents use it"
        error={usersResult.error}
        onRetry={() => void usersResult.refetch()}
      />
    </DeleteDialog>
  );
}

const maxShownUsers = 3;

/** Agents that use a tool. */
function ToolUsers({ tool }: { tool: Pick<Tool, "id"> }) {
  const at = useWorkspace();
  const { data } = useQuery(usersQuery(at));
  const users = data?.users[tool.id] ?? [];
  return (
    <Description name="Used by">
      <span className="min-w-0 wrap-anywhere">
        {!data && unknownText}
        {data && users.length === 0 && (
          <>
            No agent.{" "}
            <Link to="/agents/new" className="text-accent underline underline-offset-2">
              Create one
            </Link>
          </>
        )}
        {users.slice(0, maxShownUsers).map(({ id, name }, i) => (
          <span key={id}>
            {i > 0 && ", "}
            <Link to="/agents/$agentId" params={{ agentId: id }} className="text-accent hover:underline">
              {name}
            </Link>
          </span>
        ))}
        {users.length > maxShownUsers && ` and ${users.length - maxShownUsers} more`}
      </span>
    </Description>
  );
}
