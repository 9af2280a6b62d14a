import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { RotateCcw, ShieldAlert, Tag } from "lucide-react";
import { Fragment } from "react";
import type { LabelReason } from "../../../../server/domain/agent-label.ts";
import type { AgentLabel, AgentLabelRevision } from "../../../../server/domain/api-types/label.ts";
import { keysQuery } from "../../entities/key/key-api.ts";
import { labelRevisionsQuery } from "../../entities/label/label-api.ts";
import { formatPercent, holdsWords, reasonWords, sharesOf } from "../../entities/label/label-words.ts";
import { peopleQuery } from "../../entities/server/server-api.ts";
import { usePermission } from "../../entities/session/use-may.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Badge } from "../../ui/data/badge.tsx";
import { Card } from "../../ui/data/card.tsx";
import { type Look, LookPill } from "../../ui/data/pill.tsx";
import { Time } from "../../ui/data/time.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { Skeleton } from "../../ui/feedback/skeleton.tsx";
import { Button } from "../../ui/forms/button.tsx";

const looks: Record<LabelReason, Look> = {
  set: ["plain", Tag, reasonWords.set],
  rollback: ["info", RotateCcw, reasonWords.rollback],
  automatic_rollback: ["warn", ShieldAlert, reasonWords.automatic_rollback],
};

/** Pill of the reason why a label holds its versions. */
export const ReasonPill = ({ reason }: { reason: LabelReason }) => <LookPill look={looks[reason]} />;

/** Places where a label has been, newest first. Each earlier one can be set again. */
export function LabelHistory({
  label,
  onSetAgain,
}: {
  label: AgentLabel;
  onSetAgain: (revision: AgentLabelRevision) => void;
}) {
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } = useInfiniteQuery(
    labelRevisionsQuery(useWorkspace(), label),
  );
  const may = usePermission("member");
  const nameOf = useActorNames();
  const revisions = data?.pages.flatMap((page) => page.data);
  return (
    <Card title="History" className="shrink-0">
      {error && (
        <div className="p-4">
          <ErrorNote title="The history cannot be shown" error={error} onRetry={() => void refetch()} />
        </div>
      )}
      {!revisions && !error && (
        <div aria-hidden className="flex flex-col gap-3 p-4">
          <Skeleton className="w-1/2" />
          <Skeleton className="w-1/3" />
        </div>
      )}
      <ol aria-label={`History of ${label.name}`}>
        {revisions?.map((revision) => (
          <li
            key={revision.revision}
            className="flex min-h-11 flex-wrap items-center gap-x-3 gap-y-1 border-b border-line-soft px-4 py-2 last:border-b-0"
          >
            <ReasonPill reason={revision.reason} />
            <span className="min-w-0 flex-1 basis-40">
              <HeldVersions agentId={label.agent_id} held={revision} />
              {revision.revision === label.revision && (
                <>
                  {" "}
                  <Badge>current</Badge>
                </>
              )}
            </span>
            <span className="min-w-0 text-xs text-muted wrap-anywhere">
              {nameOf(revision)} · <Time at={revision.created_at} />
            </span>
            {may && holdsWords(revision) !== holdsWords(label) && (
              <Button
                size="sm"
                kind="ghost"
                aria-label={`Set again: ${holdsWords(revision)}`}
                onClick={() => onSetAgain(revision)}
              >
                Set again
              </Button>
            )}
          </li>
        ))}
      </ol>
      {hasNextPage && (
        <div className="border-t border-line px-4 py-2">
          <Button size="sm" disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            {isFetchingNextPage ? "Loading" : "Show older"}
          </Button>
        </div>
      )}
    </Card>
  );
}

/** Versions with links to what changed in them. */
function HeldVersions({ agentId, held }: { agentId: string; held: Pick<AgentLabel, "version" | "split"> }) {
  const shares = sharesOf(held);
  return shares.map(({ version, percent }, i) => (
    <Fragment key={version}>
      {i > 0 && ", "}
      <VersionLink agentId={agentId} version={version} />
      {shares.length > 1 && ` for ${formatPercent(percent)}`}
    </Fragment>
  ));
}

/** Link to a version of an agent. */
export const VersionLink = ({ agentId, version }: { agentId: string; version: number }) => (
  <Link
    to="/agents/$agentId"
    params={{ agentId }}
    search={{ tab: "versions", version }}
    className="text-accent hover:underline"
  >
    Version {version}
  </Link>
);

/** Returns a function that names who moved a label. */
function useActorNames(): (revision: AgentLabelRevision) => string {
  const people = useQuery(peopleQuery);
  const keys = useQuery({ ...keysQuery(useWorkspace()), refetchInterval: false });
  return ({ actor: { type, id }, reason }) => {
    if (reason === "automatic_rollback") return "by its rule";
    if (type === "user") return `by ${people.data?.find((person) => person.id === id)?.email ?? id}`;
    if (type === "cli") return "by the command line";
    return `by the API key ${keys.data?.keys.find((key) => key.id === id)?.name ?? id}`;
  };
}
