import {
  answer,
  asks,
  completed,
  created,
  requested,
  started,
  stateOf,
  text,
  toolDone,
  toolStarted,
} from "../../server/domain/__fixtures__/events.ts";
import { newId } from "../../server/domain/ids.ts";
import type { Scope } from "../../server/domain/scope.ts";
import { createRunProjection } from "../../server/runs/run-projection.ts";
import { openDatabase } from "../../server/storage/db/open.ts";
import { Journal } from "../../server/storage/journal/journal.ts";

/** Number of runs, number of tool calls per run, and bytes per output; a call is four events. */
interface LongRuns {
  runs: number;
  calls: number;
  output_bytes: number;
}

const tool = "look_up";

/** Stores finished runs with many events beside an idle server, and returns their ids. */
export async function storeLongRuns(path: string, { runs, calls, output_bytes }: LongRuns): Promise<string[]> {
  const db = openDatabase(path);
  db.sqlite.run("PRAGMA synchronous = OFF");
  const scope = db.sqlite
    .query<Scope, []>("SELECT project_id, environment FROM api_keys WHERE environment = 'test'")
    .get()!;
  const journal = new Journal({ db, project: createRunProjection(db.sqlite), wake: () => {}, now: Date.now });
  const stored: string[] = [];
  for (let run = 0; run < runs; run++) {
    const run_id = newId("run");
    const ids = Array.from({ length: calls }, () => newId("tool_call"));
    const ofCalls = ids.flatMap((id, i) => [
      requested(id, i + 1, null, { tool }),
      toolStarted(id, i + 1),
      ...toolDone(id, i + 1, { tool, output: `${run} ${i} ${"x".repeat(output_bytes)}` }),
    ]);
    const said = [started(0), completed(0, { answer: answer([text("Done."), ...ids.map((id) => asks(id))]) })];
    const { usage } = stateOf(created(), ...said, ...ofCalls);
    const end = { type: "run.completed", output: "Done.", output_json: null, usage } as const;
    await journal.append(run_id, [created({ run_id, ...scope }), ...said, ...ofCalls, end]);
    stored.push(run_id);
  }
  db.close();
  return stored;
}
