import type { Viewer } from "../../http/auth.ts";
import type { Claim } from "../../http/idempotency.ts";
import type { Author } from "../../storage/db/audit.ts";
import type { Db } from "../../storage/db/open.ts";
import type { StartSuiteRun } from "./schema.ts";
import type { SuiteStore } from "./store.ts";
import type { SuiteRunner } from "./suite-runner.ts";
import type { SuiteRuns } from "./suite-runs.ts";

interface SuiteServiceOptions {
  db: Db;
  suites: SuiteStore;
  suiteRuns: SuiteRuns;
  performer: SuiteRunner;
}

export type SuiteService = ReturnType<typeof createSuiteService>;

/** Starts and cancels suite runs. */
export function createSuiteService({ db, suites, suiteRuns, performer }: SuiteServiceOptions) {
  return {
    /** The suite run is durable once acknowledged: it is completed even after a crash. */
    async start(viewer: Viewer, id: string, body: StartSuiteRun, claim: Claim | undefined) {
      const row = await db.write(() => {
        const suite = suites.find(viewer, id);
        const inserted = suiteRuns.insert(suite, suites.casesOf(suite), body);
        // A repeated request finds this suite run and returns its current state.
        claim?.save({ id: inserted.id, seq: null, expires_at_ms: null });
        return inserted;
      });
      performer.begin(row);
      return row;
    },

    settled: performer.settled,

    /** Cancels a suite run; one that is over stays unchanged. */
    async cancel(viewer: Viewer, id: string, runId: string) {
      const row = suiteRuns.find(viewer, suites.find(viewer, id).id, runId);
      await db.write(() => suiteRuns.end(row, true));
      await performer.abandon(row);
      return suiteRuns.get(viewer, id, runId);
    },

    /** Deletes a suite with its results. */
    async remove(author: Author & Viewer, id: string) {
      const suite = suites.find(author, id);
      for (const row of suiteRuns.unfinishedOf(suite, id)) await performer.abandon(row);
      return suites.remove(author, id);
    },
  };
}
