import { isId } from "../../domain/ids.ts";
import type { RunEvent } from "../../domain/run-event.ts";
import { isOver, type RunStatus } from "../../domain/run-state.ts";
import { createLog, type Log } from "../../lib/log.ts";
import { Journal } from "../../storage/journal/journal.ts";
import { commandTarget } from "./command-target.ts";
import { CliError, usageError } from "./exit-code.ts";
import { print } from "./print.ts";
import { withStores } from "./with-stores.ts";

export interface LogsFlags {
  run: string;
  follow?: boolean;
  dataDir: string;
  json?: boolean;
}

const page = 200;
const look_ms = 250;
const longest = 200;

/** Prints the journal of a run in the format of the server's log, one line per entry. */
export async function logs({ run, follow, dataDir, json }: LogsFlags): Promise<void> {
  if (!isId("run", run)) throw usageError(`--run takes the id of a run (run_…), not "${run}".`);
  await withStores(dataDir, false, async ({ db }) => {
    const status = db.sqlite.query<{ status: RunStatus }, [string]>("SELECT status FROM runs WHERE id = ?");
    const statusOf = (): RunStatus => {
      const row = status.get(run);
      if (!row) throw new CliError(`There is no run ${run} in ${commandTarget() ? "this cell" : dataDir}.`);
      return row.status;
    };
    const journal = new Journal({ db, project: refuse, wake: () => {}, now: Date.now });
    let at = 0;
    const log = createLog({
      format: json ? "json" : "pretty",
      write: (line) => print(false, {}, () => line),
      now: () => at,
    });
    let seq = 0;
    for (;;) {
      const isFinished = isOver(statusOf()); // Checked before the read, so that the read includes the last entry.
      const entries = journal.read(run, seq, page);
      for (const entry of entries) {
        [seq, at] = [entry.seq, entry.at];
        const { type, ...fields } = entry.event;
        log[levelOf(entry.event)](type, { run_id: run, seq, ...(json ? fields : brief(fields)) });
      }
      if (entries.length === page) continue;
      if (seq === 0 && isFinished) throw new CliError(`The journal of ${run} was deleted; the run itself is there.`);
      if (!follow || isFinished || commandTarget()?.gone.aborted) return;
      await Bun.sleep(look_ms);
    }
  });
}

function refuse(): never {
  throw new Error("This command reads journals and writes none.");
}

/** Returns the log level: failures stand out for a person who searches for a cause. */
function levelOf(event: RunEvent): keyof Log {
  if (event.type === "run.failed") return "error";
  const isBad = "error" in event && event.error !== null && event.error !== undefined;
  return isBad || warnings.has(event.type) ? "warn" : "info";
}

const warnings: ReadonlySet<RunEvent["type"]> = new Set(["run.cancelled", "run.recovered", "step.restarted"]);

/** Shortens fields for a line of text. */
const brief = (fields: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => {
      if (value === null || value === undefined) return [];
      const text = typeof value === "string" ? value : JSON.stringify(value);
      return [[name, text.length <= longest ? value : `${text.slice(0, longest)}… (${text.length} characters)`]];
    }),
  );
