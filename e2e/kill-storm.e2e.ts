import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { compileMutants } from "../scripts/chaos/mutant.ts";
import { clusterMutants, stormMutants, unitMutants } from "../scripts/chaos/mutants.ts";
import { type Postgres, startPostgres } from "../server/testing/postgres.ts";
import { runStorm } from "./chaos/storm.ts";

// The seed chooses the clients' actions and the length of each life; a failure names it: `npm run storm -- --seed
// <seed>`.
const seed = Date.now() % 1_000_000;
// Each change meets a part of the storm and six of the mutants; `npm run nightly` runs them all.
const isNightly = process.env.RUNNEL_NIGHTLY === "1";
const [kills, runs] = isNightly ? [200, 300] : [60, 90];
/** Minimum effects of a storm: repeated calls, questions, failures, and content that runs share. */
const effects = [
  "model_calls_again",
  "keys_again",
  "unknown_asked",
  "unknown_reported",
  "events_refused",
  "messages",
  "paused",
  "handoffs",
  "in_threads",
  "of_events",
  "consents",
];
const some = <T>(all: readonly T[], count: number): readonly T[] => (isNightly ? all : all.slice(0, count));

test("kills during many runs lose nothing, repeat nothing that was completed, and show every client the same", async () => {
  // A storm that hit nothing would pass as well.
  const demanded = { figures: effects, above: isNightly ? 10 : 0, kills_most: 3 * kills };
  const { figures, faults, missed } = await runStorm({ kills, runs, seed, demanded });
  expect({ seed, missed, faults: faults.slice(0, 20) }).toEqual({ seed, missed: [], faults: [] });
  expect(figures.kills).toBeGreaterThanOrEqual(kills);
  expect(figures.launched).toBeGreaterThanOrEqual(runs);
  expect(figures.acknowledged).toBe(figures.launched);
}, 900_000);

/** Repeats storms for minutes: on a busy machine a single storm may kill nothing in the moment of its fault. */
async function again(isCaught: (more: number) => Promise<boolean>): Promise<boolean> {
  const end = performance.now() + 180_000;
  for (let more = 0; performance.now() < end; more++) if (await isCaught(more)) return true;
  return false;
}

describe("of faults injected into the sources", () => {
  let mutated: Awaited<ReturnType<typeof compileMutants>>;
  beforeAll(async () => {
    mutated = await compileMutants();
  }, 180_000);
  afterAll(() => mutated[Symbol.dispose]());

  test.each(some(stormMutants, 3).map((mutant) => [mutant.name, mutant] as const))(
    "the storm detects “%s”",
    async (_, mutant) => {
      expect(
        await again(async (more) => (await mutated.run(mutant, seed + more)).counters[mutant.caughtBy] > 0),
        `${mutant.caughtBy} with seeds from ${seed}`,
      ).toBe(true);
    },
    360_000,
  );

  describe.if(startPostgres.orSkipped("faults of a cluster"))("in a cluster", () => {
    let postgres: Postgres;
    beforeAll(async () => {
      postgres = await startPostgres({ standby: true });
    }, 180_000);
    afterAll(() => postgres[Symbol.asyncDispose]());

    test.each(some(clusterMutants, 1).map((mutant, index) => [mutant.name, mutant, `mutant-${index}`] as const))(
      "a storm over two nodes detects “%s”",
      async (_, mutant, cell) => {
        const isCaught = async (more: number) => {
          const { counters } = await mutated.runCluster(mutant, postgres, `${cell}-${more}`);
          return mutant.caughtBy.some((name) => counters[name] > 0);
        };
        expect(await again(isCaught)).toBe(true);
      },
      360_000,
    );
  });

  test.each(some(unitMutants, 2).map((mutant) => [mutant.name, mutant] as const))(
    "the module's own test detects “%s”",
    async (_, mutant) => {
      expect(await mutated.failsTest(mutant, false)).toBe(false);
      expect(await mutated.failsTest(mutant, true)).toBe(true);
    },
  );
});
