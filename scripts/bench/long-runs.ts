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
} from "../../server/core/__fixtures__/events.ts";
import { newId } from "../../server/core/ids.ts";
import type { Scope } from "../../server/core/scope.ts";
import { openDatabase } from "../../server/db/open.ts";
import { createJournal } from "../../server/journal/journal.ts";
import { createRunProjector } from "../../server/runs/project.ts";

/** How many runs, and of each how many tool calls with outputs of how many bytes; a call is four events. */
interface LongRuns {
  runs: number;
  calls: number;
  output_bytes: number;
}

const tool = "look_up";

/** Stores finished runs with many events beside a server that is idle, and returns their ids. */
export async function storeLongRuns(path: string, { runs, calls, output_bytes }: LongRuns): Promise<string[]> {
  const db = openDatabase(path);
  db.sqlite.run("PRAGMA synchronous = OFF");
  const scope = db.sqlite
    .query<Scope, []>("SELECT project_id, environment FROM api_keys WHERE environment = 'test'")
    .get()!;
  const journal = createJournal({ db, project: createRunProjector(db.sqlite), wake: () => {}, now: Date.now });
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
