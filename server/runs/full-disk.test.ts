import { expect, test } from "bun:test";
import { runBench } from "../testing/run-bench.ts";

test("a start whose database takes no write still answers reads: its runs are taken up once it does", async () => {
  using bench = runBench();
  const run = await bench.start([{ text: "word ".repeat(50), delta_ms: 5 }]);
  bench.pool.abort(run.id); // As if the process had died.
  bench.db.sqlite.run("PRAGMA query_only = ON");
  expect(await bench.service.recover()).toBe(1);
  expect(bench.runs.get(bench.scope, run.id).status).toBe("in_progress");
  bench.db.sqlite.run("PRAGMA query_only = OFF");
  expect(await bench.settled(run.id)).toMatchObject({ status: "completed", attempt: 2 });
});
