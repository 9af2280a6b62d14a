import { join, resolve } from "node:path";
import { isProcessAlive } from "../../lib/is-process-alive.ts";
import { processTable } from "../../lib/process-table.ts";
import { readServerFile } from "../../storage/db/server-file.ts";
import { CliError, usageError } from "../commands/exit-code.ts";
import type { DataFlags } from "../commands/option.ts";
import { print } from "../commands/print.ts";

const look_ms = 20;

/** Replaces the server of a data directory by the installed executable. Throws if the old one stays. */
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
    if (!isProcessAlive(old.pid)) throw new CliError("The server has ended. Its log says why.");
  }
}

/** True if a process has a file open: the number in the server's file may belong to another process by now. */
function holds(pid: number, file: string): boolean {
  return processTable.openFiles(pid)?.some((number) => processTable.fileOf(pid, number) === file) ?? false;
}
