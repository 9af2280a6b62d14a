import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { backUp } from "../../storage/db/backup.ts";
import { readKey } from "../cluster/cluster-plan.ts";
import { type CellFlags, createLeaderClient } from "../cluster/leader-client.ts";
import { backupPath } from "../cluster/leader-commands.ts";
import { CliError } from "./exit-code.ts";

interface Into {
  force?: boolean;
  includeKey?: boolean;
}

/** Copies a cell into one file: its leader sends a backup, which is then copied like a local database. */
export async function backUpFrom(flags: CellFlags, file: string, { force, includeKey }: Into) {
  const masterKey = includeKey ? readKey(process.env.RUNNEL_MASTER_KEY) : null;
  const made = await withBackupOf(flags, (sent) => backUp(sent, file, { force, masterKey }));
  return { made, masterKey, keyAt: "RUNNEL_MASTER_KEY" };
}

/** Downloads the leader's backup into a temporary folder. */
export async function withBackupOf<T>(flags: CellFlags, work: (file: string) => T | Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "runnel-backup-"));
  try {
    const answer = await (await createLeaderClient(flags)).send(backupPath);
    const file = join(folder, "backup.db");
    const bytes = await Bun.write(file, answer);
    if (bytes !== Number(answer.headers.get("x-runnel-bytes")))
      throw new CliError("The leader ended before it had sent the whole backup.");
    return await work(file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
