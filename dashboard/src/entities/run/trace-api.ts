import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type { RunFrame } from "../../../../server/wire/events.ts";
import type { Trace as TracePage, TraceStep, Trace as WholeTrace } from "../../../../server/wire/trace.ts";
import { get, query, resourceUrl } from "../../lib/api.ts";
import type { At } from "../resource/resource.ts";
import { runApi } from "./run-api.ts";

const pageSize = 100;

/** The address of a run's trace. */
export function traceUrl(at: At, id: string, values: Record<string, string | number | undefined> = {}): string {
  return resourceUrl(at, `/traces/${encodeURIComponent(id)}${query(values)}`);
}

/**
 * A run's trace, as far as it is here. Each further reading adds the next page, or reads anew only what may have
 * changed: what is here already stays where it is.
 */
export function traceQuery(at: At, id: string) {
  const queryKey = [...runApi.of(at, id).queryKey, "trace"];
  return queryOptions({
    queryKey,
    queryFn: async ({ client, signal }): Promise<LoadedTrace> => {
      const held = client.getQueryData<LoadedTrace>(queryKey);
      const after = readOnAfter(held);
      const values = { limit: pageSize, starting_after: after ?? undefined };
      return joinSteps(held, after, await get<TracePage>(traceUrl(at, id, values), signal));
    },
    // Steps that cannot change any more are the same objects already; comparing thousands of them would cost more.
    structuralSharing: false,
  });
}

/** One step with more than every reading brings: the journal's entries of it, or what its model read. */
export function stepQuery(at: At, runId: string, step: TraceStep, before: string | null, include: "raw" | "prompt") {
  return queryOptions({
    queryKey: [...runApi.of(at, runId).queryKey, "step", step.id, include, step.status, step.ended_at, step.attempt],
    queryFn: async ({ signal }): Promise<TraceStep | null> => {
      const values = { limit: 1, include, starting_after: before ?? undefined };
      const page = await get<TracePage>(traceUrl(at, runId, values), signal);
      return page.steps.find(({ id }) => id === step.id) ?? null;
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** One journaled event of a run, as the list of its events has it. */
export type RunEvent = RunFrame & { seq: number; at: string };

/** A run's events, page by page, from its first. */
export function eventsQuery(at: At, id: string) {
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

/** Of the request that created a run; null where its journal does not tell, or is gone. */
export function requestIdQuery(at: At, id: string) {
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

/**
 * Where the stream of a run has to begin so that it brings the whole text of every model call that goes on, and nothing
 * of those that are over.
 */
export async function streamStart(at: At, id: string, held: LoadedTrace, signal: AbortSignal): Promise<number> {
  const open = held.steps.findIndex(({ ended_at }) => ended_at === null);
  const first = open === -1 ? held.steps.length - 1 : open;
  if (first < 0) return 0;
  const values = { limit: pageSize, include: "raw", starting_after: held.steps[first - 1]?.id };
  const page = await get<TracePage>(traceUrl(at, id, values), signal);
  const seqs = page.steps.flatMap(({ raw }) => raw?.map(({ seq }) => seq) ?? []);
  if (seqs.length === 0) return 0;
  return open === -1 ? Math.max(...seqs) : Math.min(...seqs) - 1;
}

/** What is said of a trace beside its steps. */
export type Trace = Omit<WholeTrace, "steps" | "steps_has_more">;

export type StepStatus = TraceStep["status"];

/** What a model read, word for word. */
export type Prompt = NonNullable<TraceStep["prompt"]>;

/** The steps of a run as far as they are here. */
export interface LoadedTrace {
  trace: Trace;
  steps: TraceStep[];
  /** There are further pages. */
  hasMore: boolean;
}

/** True once a step can change no more. */
const isSettled = ({ status, ended_at }: TraceStep): boolean =>
  ended_at !== null && status !== "in_progress" && status !== "waiting" && status !== "unknown";

/** The step behind which anything may have changed since it was read; null: from the first on. */
export function readOnAfter(held: LoadedTrace | undefined): string | null {
  if (!held) return null;
  const unsettled = held.steps.findIndex((step) => !isSettled(step));
  return (unsettled === -1 ? held.steps.at(-1) : held.steps[unsettled - 1])?.id ?? null;
}

/** What is here, with the page that was read behind `after` in the place of what stood there. */
export function joinSteps(held: LoadedTrace | undefined, after: string | null, page: TracePage): LoadedTrace {
  const { steps, steps_has_more, ...trace } = page;
  const known = held && after !== null ? held.steps.findIndex(({ id }) => id === after) + 1 : 0;
  const kept = held?.steps.slice(0, known) ?? [];
  return { trace, steps: [...kept, ...steps], hasMore: steps_has_more };
}
