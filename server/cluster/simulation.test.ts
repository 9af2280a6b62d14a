import { expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { liveInCluster } from "../testing/simulation/cluster-life.ts";

// `SEED=1234 bun test ./server/cluster/simulation.test.ts` lives this one life again and prints what happened in it;
// `SEEDS=10000` lives more of them.
const { SEED, SEEDS = "120" } = process.env;
const never_ms = 3_600_000;

// Where there is one, of memory: a disk would be most of what a life takes.
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
    `in ${SEEDS} lives of a cell nothing that was told of is lost, one leader tells, and the log has no gap`,
    () => {
      for (let seed = 0; seed < Number(SEEDS); seed++) live(seed);
    },
    never_ms,
  );

test("the same seed lives the same life", () => {
  const seed = Number(SEED ?? 4711);
  expect(live(seed)).toEqual(live(seed));
});
