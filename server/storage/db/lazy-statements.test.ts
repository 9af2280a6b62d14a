import { expect, test } from "bun:test";
import { testApp } from "../../testing/test-app.ts";
import { openDatabase } from "./open.ts";

test("every statement of a server is valid, although it is prepared on first use", async () => {
  const db = openDatabase(":memory:");
  const { query } = db.sqlite;
  const asked = new Set<string>();
  db.sqlite.query = ((sql: string) => {
    asked.add(sql);
    return query(sql);
  }) as typeof query;
  await using _server = testApp({ db, dashboard: true });
  expect(asked.size).toBeGreaterThan(200);
  const faults = [...asked].flatMap((sql) => {
    try {
      db.sqlite.prepare(sql).finalize();
      return [];
    } catch (error) {
      return [`${error}: ${sql}`];
    }
  });
  expect(faults).toEqual([]);
});

test("a statement sees schema changes made after its creation", () => {
  const { sqlite } = openDatabase(":memory:");
  const select = sqlite.query<{ n: number }, [number]>("SELECT n FROM numbers WHERE n > ?");
  expect(() => select.get(0)).toThrow("no such table");
  sqlite.run("CREATE TABLE numbers (n INTEGER)");
  sqlite.query("INSERT INTO numbers (n) VALUES (?)").run(7);
  expect([select.get(6), select.get(7), select.all(0)]).toEqual([{ n: 7 }, null, [{ n: 7 }]]);
});
