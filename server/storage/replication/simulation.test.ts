import { expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { liveInCluster } from "../../testing/simulation/cluster-life.ts";

// `SEED=1234 bun test ./server/storage/replication/simulation.test.ts` repeats this one life and prints its history;
// `SEEDS=10000` runs more of them.
const { SEED, SEEDS = "120" } = process.env;
const never_ms = 3_600_000;

// A memory file system if there is one: a disk would take most of a life's time.
const root = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

function live(seed: number): string[] {
  const folder = mkdtempSync(join(root, "runnel-life-"));
  try {
    return liveInCluster(seed, folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

if (SEED) test(`seed ${SEED}`, () => console.log(live(Number(SEED)).join("\n")));
else
  test(
    `in ${SEEDS} lives of a cell no acknowledged write is lost, one leader answers, and the log has no gap`,
    () => {
      for (let seed = 0; seed < Number(SEEDS); seed++) live(seed);
    },
    never_ms,
  );

test("the same seed gives the same life", () => {
  const seed = Number(SEED ?? 4711);
  expect(live(seed)).toEqual(live(seed));
});
