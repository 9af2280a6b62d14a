import type { Author } from "../db/audit.ts";
import type { Db } from "../db/open.ts";
import type { Viewer } from "../http/auth.ts";
import type { Claim } from "../http/idempotency.ts";
import type { Performer } from "./performer.ts";
import type { StartSuiteRun } from "./schema.ts";
import type { SuiteStore } from "./store.ts";
import type { SuiteRuns } from "./suite-runs.ts";

interface SuiteServiceOptions {
  db: Db;
  suites: SuiteStore;
  suiteRuns: SuiteRuns;
  performer: Performer;
}

export type SuiteService = ReturnType<typeof createSuiteService>;

/** Starts suite runs and ends them. */
export function createSuiteService({ db, suites, suiteRuns, performer }: SuiteServiceOptions) {
  return {
    /** Acknowledged means durable: it comes to its end, whatever happens to this process. */
    async start(viewer: Viewer, id: string, body: StartSuiteRun, claim: Claim | undefined) {
      const row = await db.write(() => {
        const suite = suites.find(viewer, id);
        const inserted = suiteRuns.insert(suite, suites.casesOf(suite), body);
        // The same request finds it again, and is answered with what has come of it by then.
        claim?.keep({ id: inserted.id, seq: null, expires_at_ms: null });
        return inserted;
      });
      performer.begin(row);
      return row;
    },

    settled: performer.settled,

    /** Ends a suite run where it is; one that is over stays as it is. */
    async cancel(viewer: Viewer, id: string, runId: string) {
      const row = suiteRuns.find(viewer, suites.find(viewer, id).id, runId);
      await db.write(() => suiteRuns.end(row, true));
      await performer.abandon(row);
      return suiteRuns.get(viewer, id, runId);
    },

    /** Deletes a suite, with what came of it. */
    async remove(author: Author & Viewer, id: string) {
      const suite = suites.find(author, id);
      for (const row of suiteRuns.unfinishedOf(suite, id)) await performer.abandon(row);
      return suites.remove(author, id);
    },
  };
}
