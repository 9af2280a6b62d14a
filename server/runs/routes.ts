import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { Event } from "../domain/api-types/events.ts";
import { Approval, Run, RunCount, RunExcerpt, RunListItem } from "../domain/api-types/run.ts";
import { Deleted, listOf } from "../domain/api-types/schema.ts";
import { answerableNeeds } from "../domain/run-event.ts";
import type { Auth } from "../http/auth.ts";
import { filterQuery, forwardQuery, listQuery, readPage } from "../http/page.ts";
import type { Principal } from "../http/principal.ts";
import { mediaErrors, pathOf } from "../http/schemas.ts";
import { Wait } from "../http/wait-param.ts";
import { about, oneOf } from "../lib/schema.ts";
import { createRunRequests, type RunRequestDeps } from "./create/run-requests.ts";
import { exportFormat, exportRuns, exportTypes } from "./export.ts";
import { readRunQuery, runFilters, runSort } from "./filters.ts";
import { ForkRun } from "./fork/fork-schema.ts";
import { CancelRun, CreateRun, PauseRun, ReplayRun, ResumeRun, SteerRun, SubmitToolOutputs } from "./schema.ts";
import type { RunStore } from "./store.ts";
import { answerEvents, Frames, Token } from "./stream/events.ts";

interface RunRoutes extends RunRequestDeps {
  auth: Auth;
}

const Exclude = Type.String({
  pattern: "^(messages|tool_calls)(,(messages|tool_calls))*$",
  description:
    "What to leave out: `messages`, `tool_calls`, or both. Without both, a long run is as fast to read as a short one.",
});
const included = {
  include: oneOf(["messages"], {
    description: "`messages`: complete runs, with their messages and tool calls. `truncated` names what was cut.",
  }),
};
const approvalFilters = { needs: about("Only calls that wait for this.", oneOf(answerableNeeds)) };

export const runRoutes = (deps: RunRoutes) => {
  const { auth, runs } = deps;
  const requests = createRunRequests(deps);
  const params = pathOf("run");
  return new Elysia({ tags: ["Runs"] })
    .use(auth)
    .post("/runs", ({ principal, body, request, set }) => requests.create({ principal, request, set }, body), {
      operation: {
        id: "runs.create",
        summary: "Start a run",
        needs: "run",
        client: "run",
        visitors: true,
        query: { wait: Wait, frames: Frames },
        responseHeaders: ["Location"],
        bucket: "run_creations_per_minute",
        creates: Run,
        streams: "With `stream: true`: the run's events from the first to the last.",
        errors: [
          "thread_busy",
          "model_not_available",
          "budget_needs_price",
          "resource_not_found",
          "agent_ambiguous",
          ...mediaErrors,
        ],
      },
      body: CreateRun,
    })
    .use(listRoutes(deps))
    .get("/runs/:id", ({ principal, params: { id }, request, set }) => requests.show({ principal, request, set }, id), {
      operation: {
        id: "runs.retrieve",
        summary: "Retrieve a run",
        needs: "read_or_run",
        client: "read",
        visitors: true,
        query: { exclude: Exclude },
        returns: Type.Union([Run, RunExcerpt]),
      },
      params,
    })
    .delete(
      "/runs/:id",
      async ({ principal, params: { id } }) => {
        await runs.remove(principal, id);
        return { id, object: "run", deleted: true };
      },
      {
        operation: {
          id: "runs.delete",
          summary: "Delete a run that has ended",
          needs: "admin",
          returns: Deleted,
          errors: ["run_not_terminal", "run_pinned"],
        },
        params,
      },
    )
    .post(
      "/runs/:id/cancel",
      ({ principal, params: { id }, body, request, set }) => requests.cancel({ principal, request, set }, id, body),
      {
        operation: {
          id: "runs.cancel",
          summary: "Cancel a run",
          needs: "run",
          client: "run",
          visitors: true,
          needsRoom: false,
          returns: Run,
          errors: ["run_already_terminal"],
        },
        params,
        body: CancelRun,
      },
    )
    .post(
      "/runs/:id/pause",
      ({ principal, params: { id }, body, request, set }) => requests.pause({ principal, request, set }, id, body),
      {
        operation: {
          id: "runs.pause",
          summary: "Pause a run before its next step",
          needs: "run",
          client: "run",
          needsRoom: false,
          returns: Run,
          errors: ["run_already_terminal"],
        },
        params,
        body: PauseRun,
      },
    )
    .post(
      "/runs/:id/resume",
      ({ principal, params: { id }, request, set }) => requests.resume({ principal, request, set }, id),
      {
        operation: {
          id: "runs.resume",
          summary: "Let a paused run go on",
          needs: "run",
          client: "run",
          needsRoom: false,
          returns: Run,
          errors: ["run_already_terminal"],
        },
        params,
        body: ResumeRun,
      },
    )
    .post(
      "/runs/:id/messages",
      ({ principal, params: { id }, body, request, set }) => requests.steer({ principal, request, set }, id, body),
      {
        operation: {
          id: "runs.steer",
          summary: "Send a message to a run that is under way",
          needs: "run",
          client: "run",
          visitors: true,
          bucket: "run_creations_per_minute",
          returns: Run,
          errors: ["run_already_terminal", "run_not_steerable", ...mediaErrors],
        },
        params,
        body: SteerRun,
      },
    )
    .post(
      "/runs/:id/fork",
      ({ principal, params: { id }, body, request, set }) => requests.fork({ principal, request, set }, id, body),
      {
        operation: {
          id: "runs.fork",
          summary: "Fork a run: continue from one of its steps, with changes",
          needs: "run",
          query: { wait: Wait, frames: Frames },
          responseHeaders: ["Location"],
          bucket: "run_creations_per_minute",
          creates: Run,
          streams: "With `stream: true`: the run's events from the first to the last.",
          errors: ["record_damaged", "model_not_available", "budget_needs_price", ...mediaErrors],
        },
        params,
        body: ForkRun,
      },
    )
    .post(
      "/runs/:id/replay",
      ({ principal, params: { id }, body, request, set }) => requests.replay({ principal, request, set }, id, body),
      {
        operation: {
          id: "runs.replay",
          summary: "Replay a run from its record",
          needs: "run",
          bucket: "run_creations_per_minute",
          creates: Run,
          errors: ["run_not_terminal", "record_damaged"],
          responseHeaders: ["Location"],
        },
        params,
        body: ReplayRun,
      },
    )
    .post(
      "/runs/:id/submit_tool_outputs",
      ({ principal, params: { id }, body, request, set }) => requests.submit({ principal, request, set }, id, body),
      {
        operation: {
          id: "runs.submit_tool_outputs",
          summary: "Answer tool calls that a run waits for",
          needs: "run",
          client: "submit",
          needsRoom: false,
          query: { frames: Frames },
          returns: Run,
          streams: "With `stream: true`: the run's new events.",
          errors: ["run_not_awaiting_action", "tool_call_already_resolved", "tool_call_not_found", ...mediaErrors],
        },
        params,
        body: SubmitToolOutputs,
      },
    )
    .get("/runs/:id/events", ({ principal, params: { id }, request }) => answerEvents(deps, principal, id, request), {
      operation: {
        id: "runs.events.list",
        summary: "List a run's events, or follow them",
        needs: "read_or_run",
        client: "read",
        visitors: true,
        query: { ...forwardQuery, frames: Frames, token: Token },
        returns: listOf(Event),
        streams: "With `Accept: text/event-stream`: the events after `Last-Event-ID` or `starting_after`, to the last.",
        requestHeaders: ["Last-Event-ID"],
        also: { 204: "The reader has received the last event; no more follow." },
      },
      params,
    })
    .get("/approvals", ({ principal, request }) => runs.pending(principal, readPage(request.url, approvalFilters)), {
      operation: {
        id: "approvals.list",
        summary: "List tool calls that wait for an answer",
        needs: "read_or_run",
        query: { ...listQuery, ...approvalFilters },
        returns: listOf(Approval),
      },
    });
};

const listRoutes = ({ auth, runs }: RunRoutes) =>
  new Elysia({ tags: ["Runs"] })
    .use(auth)
    .get("/runs", ({ principal, request }) => listRuns(runs, principal, request), {
      operation: {
        id: "runs.list",
        summary: "List runs",
        needs: "read_or_run",
        client: "read",
        query: { ...listQuery, ...runFilters, ...runSort, ...included },
        returns: listOf(RunListItem),
      },
    })
    .get("/runs/count", ({ principal, request }) => countRuns(runs, principal, request), {
      operation: {
        id: "runs.count",
        summary: "Count runs",
        needs: "read_or_run",
        query: { ...filterQuery, ...runFilters },
        returns: RunCount,
      },
    })
    .get("/runs/export", ({ principal, request }) => exportRuns(runs, principal, request), {
      operation: {
        id: "runs.export",
        summary: "Download all runs of a list, as JSON lines or CSV",
        needs: "read",
        query: { ...filterQuery, ...runFilters, ...exportFormat },
        responseHeaders: ["Content-Disposition"],
        media: Object.values(exportTypes),
        returns: Type.Unknown(),
      },
    });

function listRuns(runs: RunStore, principal: Principal, { url, signal }: Request) {
  const { page, ...more } = readRunQuery(url, principal, { ...runSort, ...included });
  const { include, ...filters } = page.filters;
  return runs.list(principal, { ...page, filters }, { ...more, messages: include === "messages", signal });
}

// Larger counts are useless to readers and slow.
const countedMost = 10_000;

async function countRuns(runs: RunStore, principal: Principal, { url, signal }: Request) {
  const count = await runs.counted(principal, { ...readRunQuery(url, principal), signal }, countedMost + 1);
  return { object: "run_count" as const, count: Math.min(count, countedMost), is_more: count > countedMost };
}
