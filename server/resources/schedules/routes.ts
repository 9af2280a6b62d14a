import { Elysia } from "elysia";
import { Run } from "../../domain/api-types/run.ts";
import { Schedule, ScheduleRun } from "../../domain/api-types/schedule.ts";
import { Deleted, listOf } from "../../domain/api-types/schema.ts";
import type { RunObject } from "../../domain/run-object.ts";
import { type Auth, requireAgent } from "../../http/auth.ts";
import { claimOf } from "../../http/idempotency.ts";
import type { RunAnswer } from "../../http/idempotency-store.ts";
import { listQuery, plainListQuery, readPage } from "../../http/page.ts";
import type { Principal } from "../../http/principal.ts";
import { EmptyBody, pathOf } from "../../http/schemas.ts";
import type { ScheduleRuns } from "./schedule-runs.ts";
import { CreateSchedule, firingFilters, scheduleFilters, UpdateSchedule } from "./schema.ts";
import type { ScheduleStore } from "./store.ts";
import { orderOf, type StartRun } from "./trigger.ts";

const params = pathOf("schedule");

export interface ScheduleRoutes {
  auth: Auth;
  schedules: ScheduleStore;
  firings: ScheduleRuns;
  start: StartRun<RunObject>;
  /** The run as first returned to a repeated request. */
  runAsOf: (principal: Principal, answer: RunAnswer) => RunObject;
  now: () => number;
}

export const scheduleRoutes = ({ auth, schedules, firings, start, runAsOf, now }: ScheduleRoutes) =>
  new Elysia({ prefix: "/schedules", tags: ["Schedules"] })
    .use(auth)
    .post("/", async ({ principal, body, status }) => status(201, await schedules.create(principal, body)), {
      operation: {
        id: "schedules.create",
        summary: "Create a schedule",
        needs: "admin",
        creates: Schedule,
        errors: ["model_not_available", "resource_not_found", "agent_ambiguous"],
      },
      body: CreateSchedule,
    })
    .get("/", ({ principal, request }) => schedules.list(principal, readPage(request.url, scheduleFilters)), {
      operation: {
        id: "schedules.list",
        summary: "List schedules",
        needs: "read",
        query: { ...listQuery, ...scheduleFilters },
        returns: listOf(Schedule),
      },
    })
    .get("/:id", ({ principal, params }) => schedules.get(principal, params.id), {
      operation: {
        id: "schedules.retrieve",
        summary: "Retrieve a schedule",
        needs: "read",
        returns: Schedule,
      },
      params,
    })
    .patch("/:id", ({ principal, params, body }) => schedules.update(principal, params.id, body), {
      operation: {
        id: "schedules.update",
        summary: "Change a schedule, or enable or disable it",
        needs: "admin",
        returns: Schedule,
        errors: ["model_not_available", "agent_ambiguous"],
      },
      params,
      body: UpdateSchedule,
    })
    .delete("/:id", ({ principal, params }) => schedules.remove(principal, params.id), {
      operation: {
        id: "schedules.delete",
        summary: "Delete a schedule",
        needs: "admin",
        returns: Deleted,
      },
      params,
    })
    .post(
      "/:id/trigger",
      async ({ principal, params, request, set, status }) => {
        const row = schedules.find(principal, params.id);
        requireAgent(principal, row.agent_id);
        const claim = claimOf(request);
        const run = claim?.previous
          ? runAsOf(principal, claim.previous)
          : await start(principal, orderOf(row, "reject"), String(set.headers["x-request-id"]), (created) => {
              firings.started(schedules.find(principal, row.id), { trigger: "request", due_at_ms: now() }, created);
              claim?.save(created);
            });
        set.headers.location = `/v1/runs/${run.id}`;
        return status(201, run);
      },
      {
        operation: {
          id: "schedules.trigger",
          summary: "Start a run of a schedule now",
          needs: "run",
          bucket: "run_creations_per_minute",
          creates: Run,
          responseHeaders: ["Location"],
          errors: ["model_not_available"],
        },
        params,
        body: EmptyBody,
      },
    )
    .get(
      "/:id/runs",
      ({ principal, params, request }) =>
        firings.list(schedules.find(principal, params.id), readPage(request.url, firingFilters)),
      {
        operation: {
          id: "schedules.runs.list",
          summary: "List the times of a schedule with their outcomes",
          needs: "read",
          query: { ...plainListQuery, ...firingFilters },
          returns: listOf(ScheduleRun),
        },
        params,
      },
    );
