import type { Log } from "../../lib/log.ts";
import type { Db } from "./open.ts";

interface PostCommitJobs {
  db: Db;
  /** Does the due work while `goOn` returns true. */
  work(goOn: () => boolean): Promise<void>;
  /** Throws while the disk is nearly full: the reserve is for runs, and this work can wait. */
  requireRoom?: () => void;
  log: Log;
  /** Log message for failed work. */
  failed: string;
  soon_ms?: number;
  again_ms?: number;
}

/** Runs background work that follows commits, one piece at a time and only after commits. Failed work is retried. */
export function createPostCommitJobs({
  db,
  work,
  requireRoom = () => {},
  log,
  failed,
  soon_ms = 500,
  again_ms = 5_000,
}: PostCommitJobs) {
  let isRunning = false;
  let timer: Timer | undefined;
  let currentWork: Promise<void> | null = null;
  let isCommitted = false; // True if there was a commit during the work, possibly after its reads.

  async function attempt(): Promise<boolean> {
    try {
      requireRoom();
    } catch {
      return false;
    }
    try {
      await work(() => isRunning);
      return true;
    } catch (error) {
      log.error(failed, { error });
      return false;
    }
  }

  function runWork(): void {
    timer = undefined;
    isCommitted = false;
    currentWork = attempt().then((isDone) => {
      currentWork = null; // First, because `arm` does nothing while work runs.
      if (!isDone) arm(again_ms);
      else if (isCommitted) arm(soon_ms);
    });
  }

  function arm(ms: number): void {
    isCommitted = true;
    if (!isRunning || timer || currentWork) return;
    timer = setTimeout(runWork, ms).unref();
  }

  db.write.timed(() => arm(soon_ms));

  return {
    start(): void {
      isRunning = true;
      arm(soon_ms);
    },
    /** Resolves when no work is running. */
    async stop(): Promise<void> {
      isRunning = false;
      clearTimeout(timer);
      timer = undefined;
      await currentWork;
    },
    /** The running work, or null; never rejects. */
    working: (): Promise<void> | null => currentWork,
  };
}
