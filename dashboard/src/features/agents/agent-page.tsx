import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Ellipsis, FlaskConical, Trash2 } from "lucide-react";
import { useState } from "react";
import type { Environment as Mode } from "../../../../server/core/scope.ts";
import type { Agent } from "../../../../server/wire/agent.ts";
import { agentApi } from "../../entities/agent/agent-api.ts";
import { ObjectPage } from "../../entities/resource/object-page.tsx";
import { useMay } from "../../entities/session/use-may.ts";
import { useTitle } from "../../lib/use-title.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Badge } from "../../ui/badge.tsx";
import { Breadcrumb } from "../../ui/breadcrumb.tsx";
import { buttonClass } from "../../ui/button.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Menu } from "../../ui/menu.tsx";
import { ModePill } from "../../ui/mode-pill.tsx";
import { SheetHead } from "../../ui/sheet.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { Time } from "../../ui/time.tsx";
import { ViewOnly } from "../../ui/view-only.tsx";
import { AgentDefinition } from "./agent-definition.tsx";
import { AgentRuns } from "./agent-runs.tsx";
import type { AgentSearch } from "./agent-search.ts";
import { AgentVersions } from "./agent-versions.tsx";
import { DeleteAgent } from "./delete-agent.tsx";

interface AgentPageProps {
  id: string;
  search: AgentSearch;
  onSearch: (search: AgentSearch) => void;
  onLookIn: (mode: Mode) => void;
  onLeave: () => void;
}

/** One agent: what it is, what it was, and what it did. */
export function AgentPage(props: AgentPageProps) {
  const { id, onLookIn } = props;
  const at = useWorkspace();
  const agent = useQuery(agentApi.one(at, id));
  return (
    <ObjectPage
      object={agent}
      noun="agent"
      keepsOpen
      id={id}
      path={`/agents/${encodeURIComponent(id)}`}
      list={
        <Link to="/agents" className={buttonClass()}>
          Go to agents
        </Link>
      }
      onLookIn={onLookIn}
    >
      {(agent) => <FoundAgent {...props} agent={agent} />}
    </ObjectPage>
  );
}

function FoundAgent({ agent, search, onSearch, onLeave }: AgentPageProps & { agent: Agent }) {
  const { tab = "definition" } = search;
  useTitle(agent.name, "Agents");
  return (
    <>
      <AgentHead agent={agent} onLeave={onLeave} />
      <Tabs
        label="Agent"
        value={tab}
        tabs={[
          { value: "definition", label: "Definition" },
          { value: "versions", label: "Versions" },
          { value: "runs", label: "Runs" },
        ]}
        onChange={(next) => onSearch(next === "definition" ? {} : { tab: next })}
      >
        {tab === "definition" && <AgentDefinition key={agent.id} agent={agent} />}
        {tab === "versions" && <AgentVersions agent={agent} search={search} onSearch={onSearch} />}
        {tab === "runs" && <AgentRuns agent={agent} />}
      </Tabs>
    </>
  );
}

function AgentHead({ agent, onLeave }: { agent: Agent; onLeave: () => void }) {
  const may = useMay("member");
  const [deleting, setDeleting] = useState(false);
  return (
    <SheetHead>
      <Breadcrumb>
        <Link to="/agents">Agents</Link>
      </Breadcrumb>
      <h1 className="cut text-lg max-rail:grow max-rail:basis-2/5" title={agent.name}>
        {agent.name}
      </h1>
      <Badge>v{agent.version}</Badge>
      <ModePill />
      <span className="flex items-center text-xs text-muted max-full:hidden">
        Changed&nbsp;
        <Time at={agent.updated_at} />
        <CopyButton text={agent.id} what="agent id" />
      </span>
      <div className="ml-auto flex items-center gap-2">
        {!may && <ViewOnly />}
        <Link to="/playground" search={{ agent: agent.id }} className={buttonClass()}>
          <FlaskConical aria-hidden className="size-4" strokeWidth={1.5} />
          Open in playground
        </Link>
        {may && (
          <Menu
            align="end"
            trigger={
              <button type="button" aria-label="More acts" className={buttonClass({ kind: "ghost", size: "icon" })}>
                <Ellipsis aria-hidden className="size-4" strokeWidth={1.5} />
              </button>
            }
          >
            {({ MenuItem }) => (
              <MenuItem onClick={() => setDeleting(true)}>
                <Trash2 aria-hidden className="size-4" strokeWidth={1.5} />
                Delete agent
              </MenuItem>
            )}
          </Menu>
        )}
      </div>
      {deleting && <DeleteAgent agent={agent} onClose={() => setDeleting(false)} onDeleted={onLeave} />}
    </SheetHead>
  );
}
