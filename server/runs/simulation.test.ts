import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Db, openDatabase } from "../db/open.ts";
import { live, recordedLives } from "../testing/simulation/life.ts";

// `SEED=1234 bun test ./server/runs/simulation.test.ts` lives this one life again and prints what happened in it;
// `SEEDS=100000` lives more of them.
// What was ever found by chance shows in the first few hundred when it is put back.
const { SEED, SEEDS } = process.env;
// The first of them are lived by simulated-records.test.ts, which looks at what came of them too.
const [from, to] = SEEDS ? [0, Number(SEEDS)] : [recordedLives, 1000];
// No test takes longer: two processes share it, so that no core of a small machine waits for its end.
const processes = 2;
// A life ends by the number of its steps: how fast they are done is not asked.
const never_ms = 3_600_000;

describe("a server whose process, threads, storage, models, tools and clients fail at random keeps its promises", () => {
  let db: Db;
  beforeAll(() => {
    db = openDatabase(":memory:");
  });
  afterAll(() => db.close());

  if (SEED) test(`seed ${SEED}`, () => console.log(live(db, Number(SEED)).join("\n")));
  else
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

  test("the same seed lives the same life", () => {
    const seed = Number(SEED ?? 4711);
    expect(live(db, seed)).toEqual(live(db, seed));
  });
});
