import { Database } from "bun:sqlite";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { faultsOf } from "../../storage/db/check.ts";
import { describeCorruption, looksLikeDatabase } from "../../storage/db/corruption.ts";
import { requireOwn, versionOf } from "../../storage/db/version.ts";
import { CliError } from "./exit-code.ts";
import { refusePacked } from "./packed-backup.ts";
import { print } from "./print.ts";
import { fetchBackupFile } from "./remote-backup.ts";

const remedy = "Use another backup.";

/** Reads a whole backup. Throws if it is no backup or corrupt. */
export async function verify(file: string, { json }: { json?: boolean }): Promise<void> {
  if (!file.startsWith("s3://")) refusePacked(file);
  const folder = mkdtempSync(join(tmpdir(), "runnel-verify-"));
  try {
    const remote = file.startsWith("s3://") ? await fetchBackupFile(file, join(folder, "fetched.db")) : null;
    const version = verifyFile(remote?.file ?? file, file);
    print(
      json,
      { whole: true, file, name: remote?.name ?? null, version },
      () => `${file} is whole (version ${version}).`,
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function verifyFile(path: string, label: string): number {
  if (!looksLikeDatabase(path, remedy)) throw new CliError(`There is no backup ${label}.`);
  const sqlite = new Database(path, { readonly: true });
  try {
    requireOwn(sqlite, label, remedy);
    const faults = faultsOf(sqlite, "full");
    if (faults.length > 0) throw new CliError(`${label} is damaged: ${faults.join("; ")}`);
    return versionOf(sqlite);
  } catch (error) {
    throw describeCorruption(error, label, remedy);
  } finally {
    sqlite.close();
  }
}
