import { existsSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import { setBackgroundPriority } from "../../lib/thread-priority.ts";
import { cellOption, clusterOption } from "../cluster/cluster-command.ts";
import { CliError, usageError } from "./exit-code.ts";
import { dataDirOption, jsonOption, option, refuseBeside } from "./option.ts";
import { print } from "./print.ts";

interface Options {
  dataDir: string;
  to?: string;
  keep?: string;
  ifOlder?: string;
  force?: boolean;
  includeKey?: boolean;
  cluster?: string;
  cell: string;
  json?: boolean;
}

export const backupCommand = (): Command =>
  new Command("backup")
    .description("copy the database into one file or into an object store, also while the server runs")
    .argument("[file]", "where the backup is written")
    .addOption(option("--to <url>", "s3://bucket/folder, in place of a file", { env: "RUNNEL_BACKUP_TO" }))
    .addOption(option("--keep <n>", "with --to: delete all but the newest there", { env: "RUNNEL_BACKUP_KEEP" }))
    .addOption(
      option("--if-older <time>", "with --to: only if the newest one there is older than this, such as 24h", {
        env: "RUNNEL_BACKUP_IF_OLDER",
      }),
    )
    .addOption(option("--force", "replace an earlier backup", { env: "RUNNEL_BACKUP_FORCE" }))
    .addOption(
      option("--include-key", "put the master key into the backup: a reader of the backup can then read every secret"),
    )
    .addOption(dataDirOption())
    .addOption(clusterOption())
    .addOption(cellOption())
    .addOption(jsonOption())
    .addHelpText(
      "after",
      "\nWith --cluster and RUNNEL_MASTER_KEY it is the leader's database, sent here.\n\nExamples:\n  $ runnel backup /backups/runnel-$(date +%F).db --data-dir /var/lib/runnel\n  $ runnel backup --to s3://bucket/runnel --keep 30",
    )
    .addCommand(verifyCommand())
    .action(backup);

const verifyCommand = (): Command =>
  new Command("verify")
    .description("read a backup through, and end with 1 when it is damaged")
    .argument("<file>", "a backup: a file, s3://bucket/folder for the newest there, or s3://bucket/folder/name")
    .addOption(jsonOption())
    .action(
      async (file: string, _: object, command: Command) =>
        // The parent command has the same flag and receives its value.
        await (await import("./verify-backup.ts")).verify(file, command.optsWithGlobals()),
    );

async function backup(file: string | undefined, options: Options, command: Command): Promise<void> {
  if (file !== undefined) refuseBeside(file, command, ["to", "keep", "ifOlder"]);
  if (file !== undefined) return await backUpInto(file, options);
  if (options.to === undefined) throw usageError("Say where the backup goes: a file, or --to s3://bucket/folder.");
  return await (await import("./remote-backup.ts")).backUpTo(options.to, options);
}

async function backUpInto(file: string, options: Options): Promise<void> {
  const started = performance.now();
  setBackgroundPriority();
  const { cluster, cell, force, includeKey, json } = options;
  const { made, masterKey, keyAt } =
    cluster === undefined
      ? await copyHere(file, options)
      : await (await import("./fetch-backup.ts")).backUpFrom({ cluster, cell }, file, { force, includeKey });
  const duration_ms = Math.round(performance.now() - started);
  print(json, { ...made, duration_ms, master_key: masterKey ? "included" : "apart" }, () => {
    const size = `${(made.bytes / 1e6).toFixed(1)} MB, version ${made.version}, ${(duration_ms / 1000).toFixed(1)} s`;
    const key = masterKey
      ? "The master key is in it: keep the file as secret as the key."
      : `The master key is not in it, and secrets cannot be read without: keep ${keyAt} as well.`;
    return `${made.path} (${size})\n${key}`;
  });
}

async function copyHere(file: string, { dataDir, force, includeKey }: Options) {
  const { openDataDir } = await import("../../storage/db/data-dir.ts");
  const { backUp } = await import("../../storage/db/backup.ts");
  const dir = openDataDir(dataDir, { lock: false, create: false });
  const keyFile = join(dir.path, "master.key");
  const hasKey = existsSync(keyFile) || process.env.RUNNEL_MASTER_KEY !== undefined;
  if (includeKey && !hasKey) throw new CliError(`There is no master key: neither ${keyFile} nor RUNNEL_MASTER_KEY.`);
  const masterKey = includeKey ? dir.masterKey(process.env) : null;
  const keyAt = process.env.RUNNEL_MASTER_KEY ? "RUNNEL_MASTER_KEY" : keyFile;
  return { made: backUp(dir.database, file, { force, masterKey }), masterKey, keyAt };
}
