import type { Log } from "../../lib/log.ts";
import { settlesWithin } from "../../lib/with-timeout.ts";
import type { Listeners } from "./listeners.ts";

interface Stop {
  entrance: Pick<Listeners, "stop" | "cut">;
  /** Ends streams and runs. */
  endWork(): Promise<void>;
  /** Commits the rest, and releases the cell in a cluster. */
  leave(): Promise<void>;
  /** Closes the database and releases the data directory. */
  close(): void;
  log: Log;
  patience?: typeof stopPatience;
}

// Less in total than the stop timeout of systemd's unit.
const stopPatience = {
  /** Time for streams and runs. The next start recovers the rest. */
  ending_ms: 10_000,
  /** Time for responses in flight; a dead client would block for ever. */
  draining_ms: 10_000,
  /** Time to close the remaining connections. */
  cutting_ms: 1000,
  leaving_ms: 5000,
};

/** Stops a server in bounded time, whatever its runs, clients and cluster do: steps that hang or fail are skipped. */
export async function shutdown({ entrance, endWork, leave, close, log, patience = stopPatience }: Stop): Promise<void> {
  const step = async (what: string, ms: number, work: () => Promise<unknown>): Promise<void> => {
    try {
      if (!(await settlesWithin(ms, work()))) log.warn(`${what} in time`, { waited_ms: ms });
    } catch (error) {
      log.error(what, { error });
    }
  };
  await step("not all work ended", patience.ending_ms, endWork);
  await step("not all answers were read", patience.draining_ms, entrance.stop);
  await step("not all connections were cut", patience.cutting_ms, entrance.cut);
  await step("what was left was not committed, or the cluster not left", patience.leaving_ms, leave);
  close();
}
