import { Elysia } from "elysia";
import { Deleted, listOf } from "../../domain/api-types/schema.ts";
import { Suite, SuiteListItem, SuiteRun, SuiteRunListItem } from "../../domain/api-types/suite.ts";
import type { Auth } from "../../http/auth.ts";
import { claimOf } from "../../http/idempotency.ts";
import type { Base } from "../../http/module.ts";
import { listQuery, readPage } from "../../http/page.ts";
import { EmptyBody, idOf, pathOf, pathWith } from "../../http/schemas.ts";
import { readWaitParam, Wait } from "../../http/wait-param.ts";
import { about } from "../../lib/schema.ts";
import { CreateSuite, StartSuiteRun, suiteFilters, suiteRunFilters, UpdateSuite } from "./schema.ts";
import type { SuiteService } from "./service.ts";
import type { SuiteStore } from "./store.ts";
import type { SuiteRuns } from "./suite-runs.ts";

const params = pathOf("suite");
const ofRun = pathWith({
  id: about("The id.", idOf("suite")),
  suite_run_id: about("The id of the suite run.", idOf("suite_run")),
});

interface SuiteRoutes {
  auth: Auth;
  suites: SuiteStore;
  suiteRuns: SuiteRuns;
  service: SuiteService;
  /** Aborted when the server stops or the project leaves; ends every wait. */
  ending: Base["abortSignalOf"];
}

export const suiteRoutes = ({ auth, suites, suiteRuns, service, ending }: SuiteRoutes) =>
  new Elysia({ prefix: "/suites", tags: ["Suites"] })
    .use(auth)
    .post("/", async ({ principal, body, status }) => status(201, await suites.create(principal, body)), {
      operation: {
        id: "suites.create",
        summary: "Create a suite of pinned runs",
        needs: "admin",
        creates: Suite,
        errors: ["name_taken"],
      },
      body: CreateSuite,
    })
    .get("/", ({ principal, request }) => suites.list(principal, readPage(request.url, suiteFilters)), {
      operation: {
        id: "suites.list",
        summary: "List suites",
        needs: "read_or_run",
        query: { ...listQuery, ...suiteFilters },
        returns: listOf(SuiteListItem),
      },
    })
    .get("/:id", ({ principal, params }) => suites.get(principal, params.id), {
      operation: {
        id: "suites.retrieve",
        summary: "Retrieve a suite with the runs that it pins",
        needs: "read_or_run",
        returns: Suite,
      },
      params,
    })
    .patch("/:id", ({ principal, params, body }) => suites.update(principal, params.id, body), {
      operation: {
        id: "suites.update",
        summary: "Change a suite, or the runs that it pins",
        needs: "admin",
        returns: Suite,
        errors: ["name_taken"],
      },
      params,
      body: UpdateSuite,
    })
    .delete("/:id", ({ principal, params }) => service.remove(principal, params.id), {
      operation: {
        id: "suites.delete",
        summary: "Delete a suite with its results; the pinned runs stay",
        needs: "admin",
        returns: Deleted,
      },
      params,
    })
    .post(
      "/:id/runs",
      async ({ principal, params, body, request, set, status }) => {
        const wait = readWaitParam(request.url);
        const claim = claimOf(request);
        const { id } = claim?.previous ?? (await service.start(principal, params.id, body, claim));
        if (wait > 0) await service.settled(id, wait * 1000, [ending(principal.project_id), request.signal]);
        set.headers.location = `/v1/suites/${params.id}/runs/${id}`;
        return status(201, suiteRuns.get(principal, params.id, id));
      },
      {
        operation: {
          id: "suites.runs.create",
          summary: "Replay the runs of a suite against their agents as they are now",
          needs: "run",
          query: { wait: Wait },
          responseHeaders: ["Location"],
          bucket: "run_creations_per_minute",
          creates: SuiteRun,
        },
        params,
        body: StartSuiteRun,
      },
    )
    .get(
      "/:id/runs",
      ({ principal, params, request }) =>
        suiteRuns.list(principal, suites.find(principal, params.id).id, readPage(request.url, suiteRunFilters)),
      {
        operation: {
          id: "suites.runs.list",
          summary: "List the runs of a suite",
          needs: "read_or_run",
          query: { ...listQuery, ...suiteRunFilters },
          returns: listOf(SuiteRunListItem),
        },
        params,
      },
    )
    .get(
      "/:id/runs/:suite_run_id",
      ({ principal, params }) => suiteRuns.get(principal, suites.find(principal, params.id).id, params.suite_run_id),
      {
        operation: {
          id: "suites.runs.retrieve",
          summary: "Retrieve a suite run with its cases",
          needs: "read_or_run",
          returns: SuiteRun,
        },
        params: ofRun,
      },
    )
    .post(
      "/:id/runs/:suite_run_id/cancel",
      ({ principal, params }) => service.cancel(principal, params.id, params.suite_run_id),
      {
        operation: {
          id: "suites.runs.cancel",
          summary: "Cancel a suite run",
          needs: "run",
          needsRoom: false,
          returns: SuiteRun,
        },
        params: ofRun,
        body: EmptyBody,
      },
    );
