import { statSync } from "node:fs";
import type { Alarm } from "../db/alarm.ts";
import { faultsOf } from "../db/check.ts";
import { DatabaseUnusable } from "../db/damage.ts";
import type { DataDir } from "../db/data-dir.ts";
import type { Db } from "../db/open.ts";
import type { Log } from "../lib/log.ts";
import { ownCommand } from "../lib/own-command.ts";

// Read in some 60 ms. A larger one would keep its runs waiting, and is looked through while they go on.
const atOnce_bytes = 64 * 1024 * 1024;

/**
 * Looks through the database after a process that did not end in order. Throws `DatabaseUnusable` before anything is
 * built upon a small one that is damaged; answers the process that looks through a large one, and sounds the alarm.
 */
export function checkAfterCrash(given: { db: Db; dir: DataDir; log: Log; alarm: Alarm }): { stop(): void } {
  const { db, dir } = given;
  if (endedInOrder(db)) return nothing;
  if (statSync(dir.database).size > atOnce_bytes) return checkApart(given);
  const faults = faultsOf(db.sqlite, "quick");
  if (faults.length > 0) throw new DatabaseUnusable(dir.database, `is damaged: ${faults.join("; ")}`);
  return nothing;
}

const nothing = { stop() {} };

const endedInOrder = ({ sqlite }: Db): boolean =>
  sqlite.query("SELECT 1 FROM facts WHERE name = 'clean_stop'").get() !== null;

interface Examined {
  findings: { check: string; result: string; detail: string }[];
}

function checkApart({ dir, log, alarm }: { dir: DataDir; log: Log; alarm: Alarm }): { stop(): void } {
  const child = Bun.spawn(ownCommand("doctor", "--data-dir", dir.path, "--json"), {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
  });
  child.unref();
  const judge = (examined: unknown): void => {
    const found = (examined as Examined).findings.find(({ check }) => check === "integrity");
    if (found?.result === "ok") log.info("the database is whole", { path: dir.database });
    else alarm.sound(found?.detail ?? "It cannot be read.");
  };
  new Response(child.stdout)
    .json()
    .then(judge)
    .catch((error) => log.warn("the database could not be checked", { error }));
  return { stop: () => child.kill() };
}
