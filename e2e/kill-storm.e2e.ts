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

describe("of faults that are put into the sources on purpose", () => {
  let mutated: Awaited<ReturnType<typeof compileMutants>>;
  beforeAll(async () => {
    mutated = await compileMutants();
  }, 120_000);
  afterAll(() => mutated[Symbol.dispose]());

  test.each(mutants.map((mutant) => [mutant.name, mutant] as const))(
    "the storm sees through “%s”",
    async (_, mutant) => {
      // On a busy machine a storm may kill nothing in the moment that the fault is about.
      let caught = 0;
      for (let more = 0; more < 3 && caught === 0; more++)
        caught = (await mutated.run(mutant, seed + more)).counters[mutant.caughtBy];
      expect(caught, `${mutant.caughtBy} with seeds from ${seed}`).toBeGreaterThan(0);
    },
    240_000,
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
        const isCaught = async (again: number) => {
          const { counters } = await mutated.runCluster(mutant, postgres, `${cell}-${again}`);
          return mutant.caughtBy.some((name) => counters[name] > 0);
        };
        // As above: on a busy machine nothing may be on its way in the moment that the fault is about.
        expect((await isCaught(0)) || (await isCaught(1)) || (await isCaught(2))).toBe(true);
      },
      240_000,
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
