import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Db, openDatabase } from "../db/open.ts";
import { live } from "../testing/simulation/life.ts";

// `SEED=1234 bun test ./server/runs/simulation.test.ts` lives this one life again and prints what happened in it;
// `SEEDS=100000` lives more of them.
const { SEED, SEEDS = "7500" } = process.env;
const batch = 500;
// A life ends by the number of its steps: how fast they are done is not asked.
const never_ms = 3_600_000;

describe("a server whose process, threads, storage, models, tools and clients fail at random keeps its promises", () => {
  let db: Db;
  const { MAX_QUERY_CACHE_SIZE } = Database;
  beforeAll(() => {
    Database.MAX_QUERY_CACHE_SIZE = 200; // Each process that begins anew prepares the same statements.
    db = openDatabase(":memory:");
  });
  afterAll(() => {
    Database.MAX_QUERY_CACHE_SIZE = MAX_QUERY_CACHE_SIZE;
    db.close();
  });

  if (SEED) test(`seed ${SEED}`, () => console.log(live(db, Number(SEED)).join("\n")));
  else
    test.each(Array.from({ length: Number(SEEDS) / batch }, (_, index) => index * batch))(
      `in ${batch} lives from seed %d on`,
      (first) => {
        for (let seed = first; seed < first + batch; seed++) live(db, seed);
      },
      never_ms,
    );

  test("the same seed lives the same life", () => {
    const seed = Number(SEED ?? 4711);
    expect(live(db, seed)).toEqual(live(db, seed));
  });
});
