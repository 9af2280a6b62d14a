import { join, resolve } from "node:path";
import { processTable } from "../lib/process-table.ts";
import { CliError, usageError } from "./exit-code.ts";
import type { DataFlags } from "./option.ts";
import { print } from "./print.ts";
import { readServerFile } from "./server-file.ts";

const look_ms = 20;

/** Has the server on a data directory replaced by the executable that is installed now. Throws where the old one stays. */
export async function restart({ dataDir, json }: DataFlags): Promise<void> {
  const folder = resolve(dataDir);
  const read = () => readServerFile(join(folder, "server.json"));
  const old = read();
  if (!old || !holds(old.pid, join(folder, "lock.db"))) throw usageError(`No server runs on ${folder}.`);
  if (!old.hands_over)
    throw new CliError("This server cannot be replaced while it serves: stop it, and start the new one.");
  process.kill(old.pid, "SIGUSR2");
  for (;;) {
    await Bun.sleep(look_ms);
    const now = read();
    if (now && now.pid !== old.pid) {
      print(json, { pid: now.pid, replaced: old.pid }, () => `Process ${now.pid} serves, in place of ${old.pid}.`);
      return;
    }
    if (now?.refused !== old.refused) throw new CliError(`The new process did not start: ${now?.refused}`);
    if (!isAlive(old.pid)) throw new CliError("The server has ended. Its log says why.");
  }
}

/** Whether a process has a file open: a number in a file may long be another's. */
function holds(pid: number, file: string): boolean {
  return processTable.openFiles(pid)?.some((number) => processTable.fileOf(pid, number) === file) ?? false;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
