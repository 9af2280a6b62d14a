import type { Log } from "../lib/log.ts";
import type { Db } from "./open.ts";

interface AfterCommits {
  db: Pick<Db, "write">;
  /** Does what is due, for as long as it may go on. */
  work(goOn: () => boolean): Promise<void>;
  /** Throws while the disk is nearly full: the room that is held back is for runs, and this work can wait. */
  requireRoom?: () => void;
  log: Pick<Log, "error">;
  /** What the log says of work that failed. */
  failed: string;
  soon_ms?: number;
  again_ms?: number;
}

/**
 * Does in the background what follows from commits and may come a moment later, one piece of work at a time. Nothing is
 * done while nothing is committed. What failed is retried.
 */
export function createAfterCommits({
  db,
  work,
  requireRoom = () => {},
  log,
  failed,
  soon_ms = 500,
  again_ms = 5_000,
}: AfterCommits) {
  let isRunning = false;
  let timer: Timer | undefined;
  let working: Promise<void> | null = null;
  let isCommitted = false; // Something was, while it worked: maybe behind what the work had read.

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

  function look(): void {
    timer = undefined;
    isCommitted = false;
    working = attempt().then((done) => {
      working = null; // First: no look is armed while one is at work.
      if (!done) arm(again_ms);
      else if (isCommitted) arm(soon_ms);
    });
  }

  function arm(ms: number): void {
    isCommitted = true;
    if (!isRunning || timer || working) return;
    timer = setTimeout(look, ms).unref();
  }

  db.write.timed(() => arm(soon_ms));

  return {
    start(): void {
      isRunning = true;
      arm(soon_ms);
    },
    /** Returns once nothing is at work. */
    async stop(): Promise<void> {
      isRunning = false;
      clearTimeout(timer);
      timer = undefined;
      await working;
    },
    /** What is at work now; it never rejects. */
    working: (): Promise<void> | null => working,
  };
}
