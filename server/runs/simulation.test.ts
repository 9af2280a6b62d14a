import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Db, openDatabase } from "../storage/db/open.ts";
import { live, recordedLives } from "../testing/simulation/life.ts";

// `SEED=1234 bun test ./server/runs/simulation.test.ts` repeats this one life and prints its events; `SEEDS=100000`
// runs more lives. Every bug found so far shows within the first few hundred when reintroduced.
const { SEED, SEEDS, RUNNEL_NIGHTLY } = process.env;
// simulated-records.test.ts runs the first lives and checks their records; every night others follow.
const [from, to] = SEEDS ? [0, Number(SEEDS)] : [recordedLives, RUNNEL_NIGHTLY === "1" ? 1000 : recordedLives];
// Two processes share the lives, so that no core of a small machine idles at the end.
const processes = 2;
// The length of a life is counted in steps, not in time.
const never_ms = 3_600_000;

describe("a server whose process, threads, storage, models, tools and clients fail at random keeps its promises", () => {
  let db: Db;
  beforeAll(() => {
    db = openDatabase(":memory:");
  });
  afterAll(() => db.close());

  if (SEED) test(`seed ${SEED}`, () => console.log(live(db, Number(SEED)).join("\n")));
  else if (from < to)
    test.concurrent.each(Array.from({ length: processes }, (_, index) => from + index))(
      `in each ${processes}nd of ${to} lives, from seed %d on`,
      async (first) => {
        const program = `${import.meta.dir}/../testing/simulation/lives.ts`;
        const command = [process.execPath, program, String(first), String(to), String(processes)];
        const child = Bun.spawn(command, { stdout: "ignore", stderr: "pipe" });
        expect(await child.stderr.text()).toBe("");
        expect(await child.exited).toBe(0);
      },
      never_ms,
    );

  test("the same seed produces the same life", () => {
    const seed = Number(SEED ?? 4711);
    expect(live(db, seed)).toEqual(live(db, seed));
  });
});
