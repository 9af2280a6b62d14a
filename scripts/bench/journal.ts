/**
 * Measures the cost of a run's journal alone: runs begin and end, 32 concurrent, by the product's own journal with its
 * projected rows. The first argument is the file of a new database, durable at each commit, or `:memory:` for the
 * baseline: the same without disk and durability. Prints the cost of a run (`JournalCost`).
 */
import { answer, completed, created, started, stateOf, text } from "../../server/domain/__fixtures__/events.ts";
import { newId } from "../../server/domain/ids.ts";
import type { RunEvent } from "../../server/domain/run-event.ts";
import { createRunProjection } from "../../server/runs/run-projection.ts";
import { openDatabase } from "../../server/storage/db/open.ts";
import { Journal } from "../../server/storage/journal/journal.ts";

/** Microseconds per run: processor time and elapsed time. */
export interface JournalCost {
  cpu_us: number;
  run_us: number;
}

const at_once = 32;
const [warm, counted] = [6000, 12_000];

const scope = { project_id: "proj_bench", environment: "test" } as const;
const db = openDatabase(process.argv[2]!);
db.sqlite.run("INSERT INTO projects (id, name, created_at_ms) VALUES ('proj_bench', 'bench', 0)");
const journal = new Journal({ db, project: createRunProjection(db.sqlite), wake: () => {}, now: Date.now });

const said = [started(0), completed(0, { answer: answer([text("It is done.")]) })];
const { usage } = stateOf(created(), ...said);
const end: RunEvent = { type: "run.completed", output: "It is done.", output_json: null, usage };

async function run(): Promise<void> {
  const run_id = newId("run");
  await journal.append(run_id, [created({ run_id, ...scope }), said[0]!]);
  await journal.append(run_id, [said[1]!, end]);
}

async function runs(count: number): Promise<void> {
  let left = count;
  await Promise.all(
    Array.from({ length: at_once }, async () => {
      while (left-- > 0) await run();
    }),
  );
}

await runs(warm);
const [begun, before] = [performance.now(), process.cpuUsage()];
await runs(counted);
const { user, system } = process.cpuUsage(before);
const elapsed_us = (performance.now() - begun) * 1000;
const cost: JournalCost = { cpu_us: (user + system) / counted, run_us: elapsed_us / counted };
console.log(JSON.stringify(cost));
db.close();
process.exit(0);
