import { useQuery } from "@tanstack/react-query";
import { FlaskConical, Tag } from "lucide-react";
import { useEffect, useEffectEvent } from "react";
import type { Environment as Mode } from "../../../../server/domain/scope.ts";
import type { Agent } from "../../../../server/resources/agents/schema.ts";
import { agentApi, newestAgentsQuery, versionQuery } from "../../entities/agent/agent-api.ts";
import { ObjectNotFound } from "../../entities/crud/object-page.tsx";
import { labelsQuery } from "../../entities/label/label-api.ts";
import { sharesOf } from "../../entities/label/label-words.ts";
import { usePermission } from "../../entities/session/use-may.ts";
import { useTitle } from "../../hooks/use-title.ts";
import { ApiError, isNotFound } from "../../lib/api.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { ModePill } from "../../ui/data/mode-pill.tsx";
import { SheetHead } from "../../ui/dialogs/sheet.tsx";
import { EmptyState } from "../../ui/feedback/empty-state.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { Skeleton } from "../../ui/feedback/skeleton.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { AgentSelect } from "./agent-select.tsx";
import { NewAgent } from "./new-agent.tsx";
import { type PlaygroundSearch, withAgent } from "./read-playground-search.ts";
import { Workbench } from "./workbench.tsx";

interface PlaygroundProps {
  search: PlaygroundSearch;
  onSearch: (change: Partial<PlaygroundSearch>) => void;
  onLookIn: (mode: Mode) => void;
}

/** The playground, which runs an agent through the API. Opens the newest agent. */
export function PlaygroundPage(props: PlaygroundProps) {
  const at = useWorkspace();
  const agents = useQuery(newestAgentsQuery(at));
  const requestedId = props.search.agent;
  const newest = agents.data?.data[0]?.id;
  const id = requestedId ?? newest ?? (agents.data ? "new" : null);
  const choose = useEffectEvent((agent: string) => props.onSearch({ agent }));
  // A newer agent created elsewhere does not replace this page's agent.
  useEffect(() => {
    if (!requestedId && newest) choose(newest);
  }, [requestedId, newest]);
  if (id === "new") return <CreateFirst {...props} hasAgents={Boolean(agents.data?.data.length)} />;
  if (id) return <OneAgent key={`${at.projectId}/${at.mode}/${id}`} id={id} {...props} />;
  return (
    <Framed>
      {agents.error ? (
        <ErrorNote title="The agents cannot be shown" error={agents.error} onRetry={() => void agents.refetch()} />
      ) : (
        <Waiting />
      )}
    </Framed>
  );
}

function OneAgent({ id, search, onSearch, onLookIn }: PlaygroundProps & { id: string }) {
  const agent = useQuery(agentApi.one(useWorkspace(), id));
  if (agent.data && search.choice !== undefined)
    return <OneVersion agent={agent.data} choice={search.choice} search={search} onSearch={onSearch} />;
  if (agent.data) return <Workbench agent={agent.data} search={search} onSearch={onSearch} />;
  if (agent.error instanceof ApiError && agent.error.status === 404)
    return (
      <ObjectNotFound noun="agent" id={id} list="/agents" onLookIn={onLookIn}>
        <Button onClick={() => onSearch(withAgent(undefined))}>Try another agent</Button>
      </ObjectNotFound>
    );
  return (
    <Framed>
      {agent.error ? (
        <ErrorNote title="The agent cannot be shown" error={agent.error} onRetry={() => void agent.refetch()} />
      ) : (
        <Waiting />
      )}
    </Framed>
  );
}

/** An agent as one of its versions is, or as the version is that a label holds. */
function OneVersion({
  agent,
  choice,
  search,
  onSearch,
}: Omit<PlaygroundProps, "onLookIn"> & { agent: Agent; choice: string }) {
  const at = useWorkspace();
  const isLabel = !/^\d+$/.test(choice);
  const labels = useQuery({ ...labelsQuery(at, agent.id), enabled: isLabel });
  const label = labels.data?.data.find(({ name }) => name === choice);
  const shown = isLabel ? label && sharesOf(label)[0]?.version : Number(choice);
  const read = useQuery({ ...versionQuery(at, agent.id, shown ?? 0), enabled: shown !== undefined });
  const isGone = (isLabel && labels.data !== undefined && !label) || isNotFound(read.error);
  const error = labels.error ?? read.error;
  if (read.data && !isGone)
    return (
      <Workbench
        key={`${choice} ${shown}`}
        agent={{ ...agent, ...read.data, id: agent.id, object: agent.object }}
        tried={{ text: label ? `@${choice}` : choice, held: label ?? null }}
        search={search}
        onSearch={onSearch}
      />
    );
  if (isGone)
    return (
      <Framed>
        <EmptyState icon={Tag} title={isLabel ? "No such label" : "No such version"}>
          <p className="max-w-[46ch] text-muted wrap-anywhere">
            {agent.name} has no {isLabel ? `label ${choice}. It may have been deleted` : `version ${choice}`}.
          </p>
          <Button onClick={() => onSearch({ choice: undefined })}>Try the newest version</Button>
        </EmptyState>
      </Framed>
    );
  return (
    <Framed>
      {error ? (
        <ErrorNote
          title="The version cannot be shown"
          error={error}
          onRetry={() => void (labels.error ? labels : read).refetch()}
        />
      ) : (
        <Waiting />
      )}
    </Framed>
  );
}

function CreateFirst({ hasAgents, onSearch }: PlaygroundProps & { hasAgents: boolean }) {
  const may = usePermission("member");
  const open = (agent: string) => onSearch(withAgent(agent));
  useTitle("Playground");
  return (
    <Framed>
      {hasAgents && (
        <div className="mx-auto w-full max-w-135">
          <AgentSelect value="new" onAgent={open} />
        </div>
      )}
      {may ? (
        <NewAgent onCreated={open} />
      ) : (
        <EmptyState icon={FlaskConical} title="No agents yet">
          <p className="text-muted">Your role is viewer. Ask a member to create the first agent.</p>
        </EmptyState>
      )}
    </Framed>
  );
}

function Framed({ children }: { children: React.ReactNode }) {
  return (
    <>
      <SheetHead>
        <h1 className="text-lg">Playground</h1>
        <ModePill />
      </SheetHead>
      <div className="min-h-0 flex-1 overflow-y-auto px-4 py-4 rail:px-5">{children}</div>
    </>
  );
}

function Waiting() {
  return (
    <div aria-hidden className="flex flex-col gap-4 pt-2">
      <Skeleton className="w-1/3" />
      <Skeleton className="w-1/2" />
      <Skeleton className="w-1/4" />
    </div>
  );
}
