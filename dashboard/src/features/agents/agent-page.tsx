import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { FlaskConical, Trash2 } from "lucide-react";
import { useState } from "react";
import type { Environment as Mode } from "../../../../server/domain/scope.ts";
import type { Agent } from "../../../../server/resources/agents/schema.ts";
import { agentApi } from "../../entities/agent/agent-api.ts";
import { ObjectHead } from "../../entities/crud/object-head.tsx";
import { ObjectPage } from "../../entities/crud/object-page.tsx";
import { useTransferActions } from "../../entities/import-export/use-carry.tsx";
import { agentRunsQuery } from "../../entities/run/run-api.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Badge } from "../../ui/data/badge.tsx";
import { Description, IdDescription } from "../../ui/data/description-list.tsx";
import { Tabs } from "../../ui/data/tabs.tsx";
import { Time } from "../../ui/data/time.tsx";
import { ActionsMenu } from "../../ui/dialogs/actions-menu.tsx";
import { DeleteDialog } from "../../ui/dialogs/delete-dialog.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { LazyBoundary } from "../../ui/feedback/lazy-boundary.tsx";
import { buttonClass } from "../../ui/forms/button.tsx";
import { lazyPart } from "../../ui/lazy-part.ts";
import { AgentChatPage } from "./agent-chat-page.tsx";
import { AgentDefinition } from "./agent-definition.tsx";
import { AgentRuns } from "./agent-runs.tsx";
import type { AgentSearch } from "./agent-search.ts";

/** A lazy chunk, because it contains the charts. */
const AgentAnalytics = lazyPart(() => import("./agent-analytics.tsx").then((it) => ({ default: it.AgentAnalytics })));

/** Lazy chunks of tabs that most visits do not open. */
const AgentVersions = lazyPart(() => import("./agent-versions.tsx").then((it) => ({ default: it.AgentVersions })));
const AgentReleases = lazyPart(() => import("./agent-releases.tsx").then((it) => ({ default: it.AgentReleases })));

interface AgentPageProps {
  id: string;
  search: AgentSearch;
  onSearch: (search: AgentSearch) => void;
  onLookIn: (mode: Mode) => void;
  onLeave: () => void;
}

/** One agent: its definition, versions, releases, runs, analytics and chat page. */
export function AgentPage({ id, search, onSearch, onLookIn, onLeave }: AgentPageProps) {
  const { tab = "definition" } = search;
  const read = useQuery(agentApi.one(useWorkspace(), id));
  return (
    <ObjectPage object={read} noun="agent" keepsOpen list="/agents" id={id} onLookIn={onLookIn}>
      {(agent) => (
        <>
          <AgentHead agent={agent} onLeave={onLeave} />
          <Tabs
            label="Agent"
            value={tab}
            tabs={[
              { value: "definition", label: "Definition" },
              { value: "versions", label: "Versions" },
              { value: "releases", label: "Releases" },
              { value: "runs", label: "Runs" },
              { value: "analytics", label: "Analytics" },
              { value: "chat", label: "Chat page" },
            ]}
            onChange={(next) => onSearch(next === "definition" ? {} : { tab: next })}
          >
            {tab === "definition" && <AgentDefinition key={id} agent={agent} />}
            {tab === "versions" && (
              <LazyBoundary>
                <AgentVersions agent={agent} search={search} onSearch={onSearch} />
              </LazyBoundary>
            )}
            {tab === "releases" && (
              <LazyBoundary>
                <AgentReleases agent={agent} search={search} onSearch={onSearch} />
              </LazyBoundary>
            )}
            {tab === "runs" && <AgentRuns agent={agent} />}
            {tab === "analytics" && (
              <LazyBoundary>
                <AgentAnalytics id={id} search={search} onPeriod={(period) => onSearch({ tab, ...period })} />
              </LazyBoundary>
            )}
            {tab === "chat" && <AgentChatPage key={id} id={id} />}
          </Tabs>
        </>
      )}
    </ObjectPage>
  );
}

function AgentHead({ agent, onLeave }: { agent: Agent; onLeave: () => void }) {
  const [deleting, setDeleting] = useState(false);
  const { acts, dialog } = useTransferActions({ agent });
  return (
    <>
      <ObjectHead
        list="/agents"
        name={agent.name}
        pills={<Badge>v{agent.version}</Badge>}
        links={
          <Link to="/playground" search={{ agent: agent.id }} className={buttonClass()}>
            <FlaskConical aria-hidden className="size-4" strokeWidth={1.5} />
            Open in playground
          </Link>
        }
        acts={
          <ActionsMenu
            acts={[...acts, { icon: Trash2, word: "Delete agent", danger: true, onDo: () => setDeleting(true) }]}
          />
        }
      >
        <IdDescription noun="agent" id={agent.id} />
        <Description name="Updated">
          <Time at={agent.updated_at} />
        </Description>
      </ObjectHead>
      {dialog}
      {deleting && <DeleteAgent agent={agent} onClose={() => setDeleting(false)} onDeleted={onLeave} />}
    </>
  );
}

/** Deletes an agent. In live mode, an agent that has runs is deleted only after its name is typed. */
function DeleteAgent({ agent, onClose, onDeleted }: { agent: Agent; onClose: () => void; onDeleted: () => void }) {
  const { id, name, version } = agent;
  const at = useWorkspace();
  const runs = useQuery(agentRunsQuery(at, id));
  const count = runs.data?.data.length ?? 0;
  return (
    <DeleteDialog
      noun="agent"
      name={name}
      typed={at.mode === "live" && (count > 0 || runs.isError)}
      busy={runs.isPending}
      remove={() => agentApi.remove(at, id)}
      gone={agentApi.of(at, id)}
      stale={[agentApi.all(at)]}
      onClose={onClose}
      onDeleted={onDeleted}
    >
      <p>
        Deletes {version === 1 ? "its only version" : `all of its ${version} versions`}. It cannot be run any more: not
        from the API, by a schedule or as a tool of another agent.
      </p>
      {runs.data && <p className="mt-2">{effectOnRuns(count, runs.data.has_more)}</p>}
      <ErrorNote title="Whether it has runs is not known" error={runs.error} onRetry={() => void runs.refetch()} />
    </DeleteDialog>
  );
}

function effectOnRuns(count: number, more: boolean): string {
  if (count === 0) return "It has no runs.";
  if (count === 1 && !more) return "Its run is kept, with its trace. Runs in progress continue.";
  return `Its ${more ? `more than ${count}` : count} runs are kept, with their traces. Runs in progress continue.`;
}
