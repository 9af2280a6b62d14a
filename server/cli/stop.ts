import type { Log } from "../lib/log.ts";
import { settledWithin } from "../lib/settled-within.ts";
import type { Entrance } from "./entrance.ts";

interface Stop {
  entrance: Pick<Entrance, "stop" | "cut">;
  /** Ends streams and work. */
  endWork(): Promise<void>;
  /** Commits what is left, and makes way in the cluster. */
  leave(): Promise<void>;
  /** Closes the database and frees the data directory. */
  close(): void;
  log: Log;
  patience?: typeof stopPatience;
}

// In sum less than systemd's unit gives.
const stopPatience = {
  /** Streams and work. What does not end is taken up by the next start. */
  ending_ms: 10_000,
  /** Answers on their way; a dead client would be waited for for ever. */
  draining_ms: 10_000,
  /** To cut what is still open. */
  cutting_ms: 1000,
  leaving_ms: 5000,
};

/** Ends a server, whatever its work, its clients and its cluster do: what takes too long or fails is left behind. */
export async function stopServer({
  entrance,
  endWork,
  leave,
  close,
  log,
  patience = stopPatience,
}: Stop): Promise<void> {
  const step = async (what: string, ms: number, work: () => Promise<unknown>): Promise<void> => {
    try {
      if (!(await settledWithin(ms, work()))) log.warn(`${what} in time`, { waited_ms: ms });
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
