import { existsSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import { requireValue } from "../../lib/require-value.ts";
import type { DataDir } from "../../storage/db/data-dir.ts";
import { replicaMarker } from "../../storage/db/replica-marker.ts";
import type { Restored } from "../../storage/db/restore.ts";
import { CliError, usageError } from "./exit-code.ts";
import { dataDirOption, jsonOption, option, refuseBeside } from "./option.ts";
import { refusePacked } from "./packed-backup.ts";
import { print } from "./print.ts";

interface Options {
  dataDir: string;
  from?: string;
  force?: boolean;
  json?: boolean;
}

export const restoreCommand = (): Command =>
  new Command("restore")
    .description("put a backup in the place of the database; the server must be stopped")
    .argument("[file]", "a backup")
    .addOption(
      option("--from <url>", "s3://bucket/folder for the newest backup there, or s3://bucket/folder/name", {
        env: "RUNNEL_RESTORE_FROM",
      }),
    )
    .addOption(
      option("--force", "replace the database that is there; it is kept beside", { env: "RUNNEL_RESTORE_FORCE" }),
    )
    .addOption(dataDirOption())
    .addOption(jsonOption())
    .addHelpText("after", "\nThe next start takes up the runs that were in progress when the backup was made.")
    .action(restoreBackup);

async function restoreBackup(file: string | undefined, options: Options, command: Command): Promise<void> {
  if (file !== undefined) {
    refuseBeside(file, command, ["from"]);
    refusePacked(file);
  }
  if (file === undefined && options.from === undefined)
    throw usageError("Say which backup: a file, or --from s3://bucket/folder.");
  const { openDataDir } = await import("../../storage/db/data-dir.ts");
  const dir = openDataDir(options.dataDir, { lock: true });
  try {
    await restoreInto(dir, file, options);
  } finally {
    dir.release();
  }
}

async function restoreInto(dir: DataDir, file: string | undefined, { from, force, json }: Options): Promise<void> {
  const { restore } = await import("../../storage/db/restore.ts");
  if (existsSync(join(dir.path, replicaMarker)))
    throw new CliError(
      `${dir.path} belongs to a node of a cluster, which begins with what the Postgres has. Restore into an empty --data-dir, and start its node first, with another --cell.`,
    );
  const { undecidedOf } = await import("../../storage/db/restore-recovery.ts");
  const { fetched: whole } = undecidedOf(dir.database);
  const download =
    file === undefined
      ? await (await import("./remote-backup.ts")).fetchBackupFile(requireValue(from, "The source"), whole)
      : null;
  try {
    const keyFile = join(dir.path, "master.key");
    const hasKey = existsSync(keyFile) || process.env.RUNNEL_MASTER_KEY !== undefined;
    const masterKey = hasKey ? dir.masterKey(process.env) : null;
    const restored = restore(file ?? requireValue(download, "The backup").file, dir.database, { force, masterKey });
    print(json, { path: dir.database, ...restored }, () => describeRestore(dir.database, keyFile, restored));
  } finally {
    download?.remove();
  }
}

function describeRestore(database: string, keyFile: string, restored: Restored): string {
  const { version, runs_in_progress: runs, replaced, replaced_log, replaced_key, master_key, master_key_id } = restored;
  const runsText = runs === 1 ? "1 run goes" : `${runs} runs go`;
  const lines = [`${database} is the backup now (version ${version}). ${runsText} on at the next start.`];
  if (replaced) lines.push(`The database that was there is kept as ${replaced}.`);
  if (replaced_log)
    lines.push(`Its log could not be moved into it and is kept as ${replaced_log}: they belong together.`);
  if (replaced_key) lines.push(`The master key that was there is kept as ${replaced_key}.`);
  if (master_key === "restored") lines.push(`The master key came with the backup: ${keyFile}.`);
  if (master_key === "restored" && process.env.RUNNEL_MASTER_KEY)
    lines.push("RUNNEL_MASTER_KEY is another key, and goes before the file: do not set it.");
  if (master_key === "missing")
    lines.push(
      `ATTENTION: the secrets in it need the master key ${master_key_id}, which is not here. Put it into ${keyFile} (mode 600)`,
      "or into RUNNEL_MASTER_KEY before the next start; without it headers of tools, signing secrets and providers' keys are lost.",
    );
  return lines.join("\n");
}
