import { expect, test } from "bun:test";
import type { SQL } from "bun";
import { silentLog } from "../../lib/log.ts";
import { openDatabase } from "../../storage/db/open.ts";
import type { Directory } from "../../storage/replication/directory.ts";
import { replicateTables } from "./replicated-tables.ts";

const price = `INSERT INTO model_prices (model, input, cached_input, output, set_at_ms) VALUES ('test/echo', 1, 1, 2, 0)`;

test("a change of shared tables is sent again after Postgres failed the first time", async () => {
  const db = openDatabase(":memory:");
  const given: [string, string][] = [];
  let isAway = false;
  const brought = Promise.withResolvers<void>();
  const sql = {
    async unsafe(_: string, [, table, rows]: [string, string, string, number]) {
      if (isAway) throw new Error("The engine does not answer.");
      given.push([table, rows]);
      if (rows.includes("test/echo")) brought.resolve();
    },
  };
  const ask: Directory["ask"] = (work) => work(sql as unknown as SQL);
  const failed = Promise.withResolvers<void>();
  const log = { ...silentLog, warn: () => failed.resolve() };
  const cell = { first: "main", own: "main", epoch: 1 };
  const stop = await replicateTables({ ...cell, db, directory: { ask }, settled: async () => {}, log }, 1);
  expect(given.map(([table]) => table)).toEqual([
    "model_connections",
    "model_connection_grants",
    "model_prices",
    "model_price_table",
  ]);
  isAway = true;
  await db.write(() => db.sqlite.run(price));
  await failed.promise;
  isAway = false;
  await brought.promise;
  stop();
  db.close();
});

test("a change of shared tables is sent only after it is durable", async () => {
  const db = openDatabase(":memory:");
  const { promise, resolve } = Promise.withResolvers<void>();
  const asked: string[] = [];
  const ask = (async () => void asked.push("asked")) as Directory["ask"];
  const cell = { first: "main", own: "main", epoch: 1 };
  const sharing = replicateTables({ ...cell, db, directory: { ask }, settled: () => promise, log: silentLog });
  for (let turns = 0; turns < 5; turns++) await new Promise(setImmediate);
  expect(asked).toEqual([]);
  resolve();
  (await sharing)();
  expect(asked.length).toBe(4);
  db.close();
});
