import { Elysia } from "elysia";
import type { Auth } from "../http/auth.ts";
import { claimOf } from "../http/idempotency.ts";
import { pageParameters, readPage } from "../http/page.ts";
import { readWait } from "../http/read-wait.ts";
import { idOf, pathOf, pathWith } from "../http/schemas.ts";
import { CancelSuiteRun, CreateSuite, StartSuiteRun, suiteFilters, suiteRunFilters, UpdateSuite } from "./schema.ts";
import type { SuiteService } from "./service.ts";
import type { SuiteStore } from "./store.ts";
import type { SuiteRuns } from "./suite-runs.ts";

const params = pathOf("suite");
const ofRun = pathWith({ id: idOf("suite"), suite_run_id: idOf("suite_run") });

export interface SuiteRoutes {
  auth: Auth;
  suites: SuiteStore;
  suiteRuns: SuiteRuns;
  service: SuiteService;
  /** The server stops: nobody waits any longer. */
  closing: AbortSignal;
}

export const suiteRoutes = ({ auth, suites, suiteRuns, service, closing }: SuiteRoutes) =>
  new Elysia({ prefix: "/suites" })
    .use(auth)
    .post("/", async ({ principal, body, status }) => status(201, await suites.create(principal, body)), {
      permission: "admin",
      body: CreateSuite,
    })
    .get("/", ({ principal, request }) => suites.list(principal, readPage(request.url, suiteFilters)), {
      permission: { needs: "read_or_run", query: [...pageParameters, ...Object.keys(suiteFilters)] },
    })
    .get("/:id", ({ principal, params }) => suites.get(principal, params.id), { permission: "read_or_run", params })
    .patch("/:id", ({ principal, params, body }) => suites.update(principal, params.id, body), {
      permission: "admin",
      params,
      body: UpdateSuite,
    })
    .delete("/:id", ({ principal, params }) => service.remove(principal, params.id), { permission: "admin", params })
    .post(
      "/:id/runs",
      async ({ principal, params, body, request, set, status }) => {
        const wait = readWait(request.url);
        const claim = claimOf(request);
        const { id } = claim?.earlier ?? (await service.start(principal, params.id, body, claim));
        if (wait > 0) await service.settled(id, wait * 1000, [closing, request.signal]);
        set.headers.location = `/v1/suites/${params.id}/runs/${id}`;
        return status(201, suiteRuns.get(principal, params.id, id));
      },
      {
        permission: { needs: "run", query: ["wait"], bucket: "run_creations_per_minute" },
        params,
        body: StartSuiteRun,
      },
    )
    .get(
      "/:id/runs",
      ({ principal, params, request }) =>
        suiteRuns.list(principal, suites.find(principal, params.id).id, readPage(request.url, suiteRunFilters)),
      {
        permission: { needs: "read_or_run", query: [...pageParameters, ...Object.keys(suiteRunFilters)] },
        params,
      },
    )
    .get(
      "/:id/runs/:suite_run_id",
      ({ principal, params }) => suiteRuns.get(principal, suites.find(principal, params.id).id, params.suite_run_id),
      { permission: "read_or_run", params: ofRun },
    )
    .post(
      "/:id/runs/:suite_run_id/cancel",
      ({ principal, params }) => service.cancel(principal, params.id, params.suite_run_id),
      { permission: "run", params: ofRun, body: CancelSuiteRun },
    );
