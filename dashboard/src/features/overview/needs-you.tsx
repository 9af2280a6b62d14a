import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { CalendarClock, Check, Webhook } from "lucide-react";
import type { Approval } from "../../../../server/domain/api-types/run.ts";
import type { List } from "../../../../server/domain/api-types/schema.ts";
import type { AnswerableNeeds } from "../../../../server/domain/run-event.ts";
import { useAgentName } from "../../entities/agent/use-agent-name.ts";
import { runQuery } from "../../entities/run/run-api.ts";
import { scheduleApi } from "../../entities/schedule/schedule-api.ts";
import { webhookApi } from "../../entities/webhook/webhook-api.ts";
import { useNow } from "../../hooks/use-now.ts";
import { formatElapsed, formatUntil } from "../../lib/format.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Card } from "../../ui/data/card.tsx";
import { StepIcon } from "../../ui/data/step-icon.tsx";
import { buttonClass } from "../../ui/forms/button.tsx";
import { CardError } from "./cards.tsx";
import { findIssues, type Issue } from "./troubles.ts";

/** The first waiting calls, and the schedules and webhooks that fail. */
export function NeedsYou({ read }: { read: UseQueryResult<List<Approval>> }) {
  const { troubles, ...watched } = useTroubles();
  const waiting = read.data;
  const total = (waiting?.data.length ?? 0) + troubles.length;
  const error = read.error ?? watched.error;
  const refetch = () => {
    void read.refetch();
    watched.refetch();
  };
  return (
    <Card
      title={
        <>
          Needs you
          {total > 0 && (
            <span className="grid h-4.5 min-w-4.5 place-items-center rounded-full bg-mode px-1 text-2xs text-on-mode">
              {total}
              {waiting?.has_more && "+"}
            </span>
          )}
        </>
      }
      aside={
        <Link to="/approvals" className="font-medium text-accent hover:underline">
          Approvals
        </Link>
      }
    >
      {error && <CardError what="What needs you" isShown={total > 0} error={error} onRetry={refetch} />}
      {waiting && watched.isLoaded && !error && total === 0 && <AllClear>Nothing needs your attention.</AllClear>}
      <ul>
        {waiting?.data.map((call) => (
          <li key={call.id} className="border-b border-line-soft last:border-0">
            <Entry call={call} />
          </li>
        ))}
        {troubles.map((trouble) => (
          <li key={trouble.id} className="border-b border-line-soft last:border-0">
            <TroubleEntry trouble={trouble} />
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Entry({ call }: { call: Approval }) {
  const { data: run } = useQuery(runQuery(useWorkspace(), call.run_id));
  const agent = useAgentName(run?.agent_id ?? "");
  const now = useNow();
  const waiting = `waiting ${formatElapsed(now - Date.parse(call.created_at))}`;
  const ends = call.expires_at ? ` · expires ${formatUntil(call.expires_at, now)}` : "";
  return (
    <div className="flex items-center gap-2.5 px-4 py-2">
      <StepIcon type={call.needs === "approval" ? "approval" : "tool_call"} />
      <div className="min-w-0 flex-1">
        <div className="cut font-strong" title={call.name}>
          {questions[call.needs](call.name)}
        </div>
        <div className="cut text-xs text-muted">
          {agent && `${agent} · `}
          {waiting}
          {ends}
        </div>
      </div>
      <Link
        to="/runs/$runId"
        params={{ runId: call.run_id }}
        className={buttonClass({ size: "sm" })}
        aria-label={`Review ${call.name}`}
      >
        Review
      </Link>
    </div>
  );
}

const questions: Record<AnswerableNeeds, (tool: string) => string> = {
  approval: (tool) => `Approve ${tool}?`,
  output: (tool) => `${tool} waits for its output`,
  reconcile: (tool) => `Did ${tool} take effect?`,
  elicitation: (tool) => `${tool} asks a question`,
};

/** A line that says that all is well. */
export function AllClear({ children }: { children: string }) {
  return (
    <p className="flex items-center gap-2 px-4 py-4 text-muted">
      <Check aria-hidden className="size-4 shrink-0 text-ok" strokeWidth={1.5} />
      {children}
    </p>
  );
}

const icons = { schedule: CalendarClock, webhook: Webhook };

/** A failing schedule or webhook, with a link to the cause. */
function TroubleEntry({ trouble: { kind, id, title, detail, runId } }: { trouble: Issue }) {
  const Icon = icons[kind];
  const look = { className: buttonClass({ size: "sm" }), "aria-label": `Review: ${title}`, children: "Review" };
  return (
    <div className="flex items-center gap-2.5 px-4 py-2">
      <span className="outlined inline-grid size-5 shrink-0 place-items-center rounded-sm bg-bad-soft text-bad">
        <Icon aria-hidden className="size-3" strokeWidth={1.75} />
      </span>
      <div className="min-w-0 flex-1">
        <div className="cut font-strong" title={title}>
          {title}
        </div>
        <div className="cut text-xs text-muted" title={detail}>
          {detail}
        </div>
      </div>
      {kind === "webhook" ? (
        <Link to="/webhooks/$webhookId" params={{ webhookId: id }} {...look} />
      ) : runId ? (
        <Link to="/runs/$runId" params={{ runId }} {...look} />
      ) : (
        <Link to="/schedules/$scheduleId" params={{ scheduleId: id }} {...look} />
      )}
    </div>
  );
}

interface Troubles {
  troubles: Issue[];
  /** True if all schedules and webhooks are loaded. */
  isLoaded: boolean;
  error: Error | null;
  refetch: () => void;
}

const pollOptions = { staleTime: 0, refetchInterval: 15_000 };

/** Returns the failing schedules and webhooks among those loaded so far. */
function useTroubles(): Troubles {
  const at = useWorkspace();
  const schedules = useQuery({ ...scheduleApi.every(at), ...pollOptions });
  const webhooks = useQuery({ ...webhookApi.every(at), ...pollOptions });
  return {
    troubles: findIssues(schedules.data ?? [], webhooks.data ?? []),
    isLoaded: schedules.data !== undefined && webhooks.data !== undefined,
    error: schedules.error ?? webhooks.error,
    refetch: () => {
      void schedules.refetch();
      void webhooks.refetch();
    },
  };
}
