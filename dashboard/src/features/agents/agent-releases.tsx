import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { clsx } from "clsx";
import { ArrowLeft, Plus, ShieldAlert, Tag } from "lucide-react";
import { useRef, useState } from "react";
import type { AgentLabel } from "../../../../server/domain/api-types/label.ts";
import type { Agent } from "../../../../server/resources/agents/schema.ts";
import { newestAgentsQuery } from "../../entities/agent/agent-api.ts";
import { labelRevisionsQuery, labelsQuery } from "../../entities/label/label-api.ts";
import {
  formatPercent,
  holdsBriefly,
  holdsWords,
  labelReference,
  reasonWords,
  sharesOf,
} from "../../entities/label/label-words.ts";
import { usePermission } from "../../entities/session/use-may.ts";
import { useKeys } from "../../hooks/use-keys.ts";
import { useRowKeys } from "../../hooks/use-row-keys.ts";
import { matchesQuery } from "../../lib/matches-query.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Card } from "../../ui/data/card.tsx";
import { CopyButton } from "../../ui/data/copy-button.tsx";
import { TableSkeleton } from "../../ui/data/table.tsx";
import { Time } from "../../ui/data/time.tsx";
import { Callout } from "../../ui/feedback/callout.tsx";
import { EmptyState } from "../../ui/feedback/empty-state.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { SearchField } from "../../ui/forms/search-field.tsx";
import type { AgentSearch } from "./agent-search.ts";
import { type LabelAct, LabelDialogs, LabelMenu } from "./label-acts.tsx";
import { LabelHistory, ReasonPill, VersionLink } from "./label-history.tsx";
import { LabelReport } from "./label-report.tsx";
import { useFocusPane } from "./use-focus-pane.ts";

interface ReleasesProps {
  agent: Agent;
  search: AgentSearch;
  onSearch: (search: AgentSearch) => void;
}

/** From so many labels on, they are searched. */
const manyLabels = 9;

/** An agent's labels: the list on the left, one label with its versions, numbers and history on the right. */
export function AgentReleases({ agent, search, onSearch }: ReleasesProps) {
  const may = usePermission("member");
  const list = useQuery(labelsQuery(useWorkspace(), agent.id));
  const [act, setAct] = useState<LabelAct | null>(null);
  const [query, setQuery] = useState("");
  const body = useRef<HTMLDivElement>(null);
  useFocusPane(body, search.label, "data-label");
  useRowKeys(body);
  const labels = list.data?.data;
  const selected = labels?.find(({ name }) => name === search.label) ?? labels?.[0];
  // On a phone, only one of the two is visible: the list, or the selected label.
  const isChosen = selected !== undefined && search.label === selected.name;
  const show = (name?: string) => onSearch({ tab: "releases", label: name });
  const create = () => setAct({ kind: "create" });
  useKeys({ c: create }, may);
  const failure = (
    <ErrorNote
      inset
      title={labels ? "The labels are not up to date" : "The labels cannot be shown"}
      error={list.error}
      onRetry={() => void list.refetch()}
    />
  );
  return (
    <>
      {failure}
      {list.isLoading && <TableSkeleton />}
      {labels?.length === 0 && <NoLabels onCreate={may ? create : undefined} />}
      {labels && selected && (
        <div
          ref={body}
          className="flex min-h-0 flex-1 flex-col overflow-y-auto rail:grid rail:grid-cols-[calc(var(--space-10)*6)_minmax(0,1fr)] rail:overflow-hidden wide:grid-cols-[calc(var(--space-10)*8)_minmax(0,1fr)]"
        >
          <div
            className={clsx(
              "min-w-0 rail:overflow-y-auto rail:border-r rail:border-line",
              isChosen && "max-rail:hidden",
            )}
          >
            {(may || labels.length >= manyLabels) && (
              <div className="flex flex-wrap items-center gap-2 border-b border-line-soft px-4 py-2 rail:px-5">
                {labels.length >= manyLabels && (
                  <SearchField label="Search labels by name" placeholder="Name" value={query} onSearch={setQuery} />
                )}
                {may && (
                  <Button size="sm" onClick={create}>
                    <Plus aria-hidden className="size-3.5" strokeWidth={1.5} />
                    Create label
                  </Button>
                )}
              </div>
            )}
            <LabelList
              labels={labels.filter(({ name }) => matchesQuery(name, query))}
              selected={selected}
              onShow={show}
            />
          </div>
          <section
            aria-label={`Label ${selected.name}`}
            className={clsx(
              "flex min-w-0 flex-col gap-4 px-4 py-4 rail:overflow-y-auto rail:px-5",
              !isChosen && "max-rail:hidden",
            )}
          >
            <Button kind="ghost" className="-ml-2 self-start rail:hidden" onClick={() => show()}>
              <ArrowLeft aria-hidden className="size-4" strokeWidth={1.5} />
              All labels
            </Button>
            <LabelPane key={selected.id} agent={agent} label={selected} onAct={setAct} />
          </section>
        </div>
      )}
      <LabelDialogs agent={agent} act={act} onAct={setAct} onSet={({ name }) => show(name)} onDeleted={() => show()} />
    </>
  );
}

function NoLabels({ onCreate }: { onCreate?: () => void }) {
  return (
    <EmptyState icon={Tag} title="No labels yet">
      <p className="max-w-[52ch] text-muted">
        A label such as <b>production</b> holds a version of this agent, or two by percent. Requests name the label: you
        release by moving it, and roll back in one step.{" "}
        <a href="/docs/guides/releases" className="text-accent underline">
          How it works
        </a>
      </p>
      {onCreate && (
        <Button kind="primary" onClick={onCreate}>
          Create the first label
        </Button>
      )}
    </EmptyState>
  );
}

function LabelList({
  labels,
  selected,
  onShow,
}: {
  labels: readonly AgentLabel[];
  selected: AgentLabel;
  onShow: (name: string) => void;
}) {
  if (labels.length === 0) return <p className="px-4 py-3 text-muted rail:px-5">No label has these words.</p>;
  return (
    <ol aria-label="Labels">
      {labels.map((label) => (
        <li key={label.id}>
          <button
            type="button"
            data-row
            data-label={label.name}
            aria-pressed={label === selected}
            onClick={() => onShow(label.name)}
            className={clsx(
              "flex w-full min-w-0 flex-col border-b border-line-soft px-4 py-2 text-left rail:px-5",
              label === selected ? "bg-accent-soft" : "hover:bg-hover",
            )}
          >
            <span className="flex w-full min-w-0 items-center gap-3">
              <span className="cut font-strong" title={label.name}>
                {label.name}
              </span>
              <span className="ml-auto shrink-0 text-xs text-muted tabular-nums">{holdsBriefly(label)}</span>
            </span>
            <LastMove label={label} />
          </button>
        </li>
      ))}
    </ol>
  );
}

function LastMove({ label: { reason, moved_at } }: { label: AgentLabel }) {
  const isAutomatic = reason === "automatic_rollback";
  return (
    <span className={clsx("flex items-center gap-1 text-xs", isAutomatic ? "text-warn" : "text-muted")}>
      {isAutomatic && <ShieldAlert aria-hidden className="size-3.5 shrink-0" strokeWidth={1.5} />}
      <span>
        {reasonWords[reason]} <Time at={moved_at} />
      </span>
    </span>
  );
}

/** One label: what it holds, its actions, numbers and history. */
function LabelPane({ agent, label, onAct }: { agent: Agent; label: AgentLabel; onAct: (act: LabelAct) => void }) {
  const may = usePermission("member");
  const agents = useQuery(newestAgentsQuery(useWorkspace())).data?.data ?? [];
  const hasTwin = agents.some(({ id, name }) => id !== agent.id && name === agent.name);
  const reference = labelReference(hasTwin ? { id: agent.id, name: "@" } : agent, label.name);
  return (
    <>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <h2 tabIndex={-1} className="min-w-0 text-md wrap-anywhere">
          {label.name}
        </h2>
        {label.reason !== "set" && <ReasonPill reason={label.reason} />}
        {may && (
          <span className="flex flex-wrap items-center gap-2 rail:ml-auto">
            <NextStep agent={agent} label={label} onAct={onAct} />
            <LabelMenu label={label} onAct={onAct} />
          </span>
        )}
        <span className="flex min-w-0 basis-full items-center gap-1.5 text-xs text-muted">
          <span className="shrink-0">Requests name it as</span>
          <code className="cut text-ink" title={reference}>
            {reference}
          </code>
          <CopyButton text={reference} what="name with label" />
          {may && (
            <Link
              to="/playground"
              search={{ agent: agent.id, choice: label.name }}
              className="ml-1 shrink-0 text-accent hover:underline"
            >
              Try it
            </Link>
          )}
        </span>
      </div>
      {label.reason === "automatic_rollback" && <RolledBack label={label} />}
      <HeldCard agent={agent} label={label} />
      <LabelReport label={label} />
      <LabelHistory
        label={label}
        onSetAgain={(revision) => onAct({ kind: "move", label, shares: sharesOf(revision) })}
      />
    </>
  );
}

/** The step that mostly follows: to the newest version, or from a split to its newer version; and the way back. */
function NextStep({ agent, label, onAct }: { agent: Agent; label: AgentLabel; onAct: (act: LabelAct) => void }) {
  const shares = sharesOf(label);
  const isSplit = shares.length > 1;
  const next = isSplit ? shares[0]!.version : agent.version;
  const move = () => onAct({ kind: "move", label, shares: [{ version: next, percent: 100 }] });
  const isThere = !isSplit && shares[0]?.version === next;
  return (
    <>
      {label.revision > 1 && <Button onClick={() => onAct({ kind: "rollback", label })}>Roll back</Button>}
      {isThere ? (
        <Button onClick={() => onAct({ kind: "move", label })}>Move label</Button>
      ) : (
        <Button kind="primary" onClick={move}>
          {isSplit ? `Give version ${next} all runs` : `Move to version ${next}`}
        </Button>
      )}
    </>
  );
}

/** Says that the server rolled the label back, from what to what. */
function RolledBack({ label }: { label: AgentLabel }) {
  const { data } = useInfiniteQuery(labelRevisionsQuery(useWorkspace(), label));
  const from = data?.pages[0]?.data[1];
  return (
    <Callout tone="warn">
      <b>The server rolled this label back</b>
      <p>
        {from ? `It held ${holdsWords(from)} and` : "It"} holds {holdsWords(label)} since <Time at={label.moved_at} />,
        because its rule for automatic rollback was met. The rule is removed: set it again with the next release.{" "}
        <Link
          to="/runs"
          search={{ agent: label.agent_id, status: "failed" }}
          className="text-accent underline underline-offset-2"
        >
          Failed runs of this agent
        </Link>
      </p>
    </Callout>
  );
}

/** The versions that a label holds, drawn by their percents. */
function HeldCard({ agent, label }: { agent: Agent; label: AgentLabel }) {
  const shares = sharesOf(label);
  return (
    <Card title="Versions" className="shrink-0" aside={label.rollback_on === null && "No automatic rollback"}>
      <div className="flex flex-col gap-3 p-4">
        <div aria-hidden className="flex h-2.5 gap-0.5 overflow-hidden rounded-full">
          {shares.map(({ version, percent }, i) => (
            <span
              key={version}
              className={clsx("outlined h-full min-w-1", i === 0 ? "bg-accent" : "bg-accent-line")}
              style={{ width: `${percent}%` }}
            />
          ))}
        </div>
        <ul aria-label="Versions that it holds" className="flex flex-col gap-1.5">
          {shares.map(({ version, percent }, i) => (
            <li key={version} className="flex flex-wrap items-center gap-x-2 gap-y-1">
              <span
                aria-hidden
                className={clsx("outlined size-2.5 rounded-sm", i === 0 ? "bg-accent" : "bg-accent-line")}
              />
              <VersionLink agentId={agent.id} version={version} />
              <span className="text-muted tabular-nums">
                {formatPercent(percent)} of the runs{version === agent.version ? ", the newest version" : ""}
              </span>
            </li>
          ))}
        </ul>
        {shares.length > 1 && (
          <Link
            to="/agents/$agentId"
            params={{ agentId: agent.id }}
            search={{ tab: "versions", version: shares[0]!.version, against: shares[1]!.version }}
            className="w-fit text-xs text-accent hover:underline"
          >
            What changed between them
          </Link>
        )}
      </div>
    </Card>
  );
}
