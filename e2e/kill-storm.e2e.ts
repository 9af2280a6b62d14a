import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { compileMutants } from "../scripts/storm/mutant.ts";
import { clusterMutants, mutants, unitMutants } from "../scripts/storm/mutants.ts";
import { type Postgres, startPostgres } from "../server/testing/postgres.ts";
import { runStorm } from "./storm/storm.ts";

// It chooses what clients do and how long each life lasts; a failure names it: `npm run storm -- --seed <seed>`.
const seed = Date.now() % 1_000_000;

test("200 kills during 300 runs lose nothing, repeat nothing that was completed, and show everybody the same", async () => {
  const { figures, faults } = await runStorm({ kills: 200, runs: 300, seed });
  expect({ seed, faults: faults.slice(0, 20) }).toEqual({ seed, faults: [] });
  expect(figures).toMatchObject({ kills: 200, acknowledged: 300 });
  // A storm that hit nothing would pass as well.
  const { model_calls_again, keys_again, unknown_asked, unknown_reported, events_refused } = figures;
  for (const hits of [model_calls_again, keys_again, unknown_asked, unknown_reported, events_refused])
    expect(hits).toBeGreaterThan(10);
}, 600_000);

/** Lets storm follow storm for minutes: on a busy machine one may kill nothing in the moment that its fault is about. */
async function again(isCaught: (more: number) => Promise<boolean>): Promise<boolean> {
  const end = performance.now() + 180_000;
  for (let more = 0; performance.now() < end; more++) if (await isCaught(more)) return true;
  return false;
}

describe("of faults that are put into the sources on purpose", () => {
  let mutated: Awaited<ReturnType<typeof compileMutants>>;
  beforeAll(async () => {
    mutated = await compileMutants();
  }, 120_000);
  afterAll(() => mutated[Symbol.dispose]());

  test.each(mutants.map((mutant) => [mutant.name, mutant] as const))(
    "the storm sees through “%s”",
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
    }, 60_000);
    afterAll(() => postgres[Symbol.asyncDispose]());

    test.each(clusterMutants.map((mutant, index) => [mutant.name, mutant, `mutant-${index}`] as const))(
      "a storm over two nodes sees through “%s”",
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

  test.each(unitMutants.map((mutant) => [mutant.name, mutant] as const))(
    "the test of the part sees through “%s”",
    async (_, mutant) => {
      expect(await mutated.failsTest(mutant, false)).toBe(false);
      expect(await mutated.failsTest(mutant, true)).toBe(true);
    },
  );
});
