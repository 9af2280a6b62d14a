import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type { RunFrame } from "../../../../server/domain/api-types/events.ts";
import type { Trace as TracePage, TraceStep, Trace as WholeTrace } from "../../../../server/domain/api-types/trace.ts";
import { get, query, resourceUrl } from "../../lib/api.ts";
import type { WorkspaceKey } from "../crud/resource.ts";
import { runApi } from "./run-api.ts";

const pageSize = 100;

/** Address of a run's trace. */
export function traceUrl(
  at: WorkspaceKey,
  id: string,
  values: Record<string, string | number | undefined> = {},
): string {
  return resourceUrl(at, `/traces/${encodeURIComponent(id)}${query(values)}`);
}

/**
 * A run's trace, loaded incrementally. Each refetch adds the next page, or replaces only the steps that may have
 * changed.
 */
export function traceQuery(at: WorkspaceKey, id: string) {
  const queryKey = [...runApi.of(at, id).queryKey, "trace"];
  return queryOptions({
    queryKey,
    queryFn: async ({ client, signal }): Promise<LoadedTrace> => {
      const cached = client.getQueryData<LoadedTrace>(queryKey);
      const after = lastSettledStepId(cached);
      const values = { limit: pageSize, starting_after: after ?? undefined };
      return joinSteps(cached, after, await get<TracePage>(traceUrl(at, id, values), signal));
    },
    // Settled steps keep their identity anyway, and comparing thousands of steps would be slow.
    structuralSharing: false,
  });
}

/** One step with extra detail: its journal entries, or its model's prompt. */
export function stepQuery(
  at: WorkspaceKey,
  runId: string,
  step: TraceStep,
  before: string | null,
  include: "raw" | "prompt",
) {
  return queryOptions({
    queryKey: [
      ...runApi.of(at, runId).queryKey,
      "step",
      step.id,
      include,
      step.status,
      step.completed_at,
      step.attempt,
    ],
    queryFn: async ({ signal }): Promise<TraceStep | null> => {
      const values = { limit: 1, include, starting_after: before ?? undefined };
      const page = await get<TracePage>(traceUrl(at, runId, values), signal);
      return page.steps.find(({ id }) => id === step.id) ?? null;
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** An event of a run, as the event list returns it. */
export type RunEvent = RunFrame & { seq: number; at: string };

/** A run's events in order, paginated. */
export function eventsQuery(at: WorkspaceKey, id: string) {
  return infiniteQueryOptions({
    queryKey: [...runApi.of(at, id).queryKey, "events"],
    queryFn: ({ pageParam, signal }) => {
      const values = { limit: pageSize, starting_after: pageParam ?? undefined };
      const url = runApi.url(at, id, `/events${query(values)}`);
      return get<{ data: RunEvent[]; has_more: boolean }>(url, signal);
    },
    initialPageParam: null as number | null,
    getNextPageParam: ({ data, has_more }) => (has_more ? (data.at(-1)?.seq ?? null) : null),
  });
}

/** Id of the request that created a run; null if the journal does not contain it or was deleted. */
export function requestIdQuery(at: WorkspaceKey, id: string) {
  return queryOptions({
    queryKey: [...runApi.of(at, id).queryKey, "request"],
    queryFn: async ({ signal }): Promise<string | null> => {
      const { data } = await get<{ data: RunEvent[] }>(runApi.url(at, id, "/events?limit=1"), signal);
      const [first] = data;
      return first?.event === "run.created" ? first.data.request_id : null;
    },
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
}

/** Returns the event id to start streaming at: before all unfinished model calls, after the finished ones. */
export async function streamStart(
  at: WorkspaceKey,
  id: string,
  held: LoadedTrace,
  signal: AbortSignal,
): Promise<number> {
  const open = held.steps.findIndex(({ completed_at }) => completed_at === null);
  const first = open === -1 ? held.steps.length - 1 : open;
  if (first < 0) return 0;
  const values = { limit: pageSize, include: "raw", starting_after: held.steps[first - 1]?.id };
  const page = await get<TracePage>(traceUrl(at, id, values), signal);
  const seqs = page.steps.flatMap(({ raw }) => raw?.map(({ seq }) => seq) ?? []);
  if (seqs.length === 0) return 0;
  return open === -1 ? Math.max(...seqs) : Math.min(...seqs) - 1;
}

/** A trace without its steps. */
export type Trace = Omit<WholeTrace, "steps" | "steps_has_more">;

export type StepStatus = TraceStep["status"];

/** The exact prompt of a model call. */
export type Prompt = NonNullable<TraceStep["prompt"]>;

/** The part of a trace that is loaded. */
export interface LoadedTrace {
  trace: Trace;
  steps: TraceStep[];
  /** True if there are more pages. */
  hasMore: boolean;
}

/** True if a step cannot change any more. */
const isSettled = ({ status, completed_at }: TraceStep): boolean =>
  completed_at !== null && status !== "in_progress" && status !== "waiting" && status !== "unknown";

/** Id of the last step that cannot have changed; null to read from the start. */
export function lastSettledStepId(held: LoadedTrace | undefined): string | null {
  if (!held) return null;
  const unsettled = held.steps.findIndex((step) => !isSettled(step));
  return (unsettled === -1 ? held.steps.at(-1) : held.steps[unsettled - 1])?.id ?? null;
}

/** Replaces the steps after `after` with the fetched page. */
export function joinSteps(held: LoadedTrace | undefined, after: string | null, page: TracePage): LoadedTrace {
  const { steps, steps_has_more, ...trace } = page;
  const keptCount = held && after !== null ? held.steps.findIndex(({ id }) => id === after) + 1 : 0;
  const keptSteps = held?.steps.slice(0, keptCount) ?? [];
  return { trace, steps: [...keptSteps, ...steps], hasMore: steps_has_more };
}
