import { existsSync } from "node:fs";
import { setPriority } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { CliError } from "./exit-code.ts";
import { dataDirOption, jsonOption, option } from "./option.ts";
import { print } from "./print.ts";

interface Options {
  dataDir: string;
  force?: boolean;
  includeKey?: boolean;
  json?: boolean;
}

export const backupCommand = (): Command =>
  new Command("backup")
    .description("copy the database into one file, also while the server runs")
    .argument("<file>", "where the backup is written")
    .addOption(option("--force", "replace an earlier backup", { env: "RUNNEL_BACKUP_FORCE" }))
    .addOption(option("--include-key", "put the master key into the backup: whoever has it can read every secret"))
    .addOption(dataDirOption())
    .addOption(jsonOption())
    .addHelpText("after", "\nExample:\n  $ runnel backup /backups/runnel-$(date +%F).db --data-dir /var/lib/runnel")
    .action(backup);

const backgroundPriority = 10; // The server that may run beside it goes first.

async function backup(file: string, { dataDir, force, includeKey, json }: Options): Promise<void> {
  const { openDataDir } = await import("../db/data-dir.ts");
  const { backUp } = await import("../db/backup.ts");
  const started = performance.now();
  setPriority(backgroundPriority);
  const dir = openDataDir(dataDir, { lock: false, create: false });
  const keyFile = join(dir.path, "master.key");
  const hasKey = existsSync(keyFile) || process.env.RUNNEL_MASTER_KEY !== undefined;
  if (includeKey && !hasKey) throw new CliError(`There is no master key: neither ${keyFile} nor RUNNEL_MASTER_KEY.`);
  const masterKey = includeKey ? dir.masterKey(process.env) : null;
  const made = backUp(dir.database, file, { force, masterKey });
  const duration_ms = Math.round(performance.now() - started);
  print(json, { ...made, duration_ms, master_key: masterKey ? "included" : "apart" }, () => {
    const size = `${(made.bytes / 1e6).toFixed(1)} MB, version ${made.version}, ${(duration_ms / 1000).toFixed(1)} s`;
    const key = masterKey
      ? "The master key is in it: keep the file as secret as the key."
      : `The master key is not in it, and secrets cannot be read without: keep ${process.env.RUNNEL_MASTER_KEY ? "RUNNEL_MASTER_KEY" : keyFile} as well.`;
    return `${made.path} (${size})\n${key}`;
  });
}
