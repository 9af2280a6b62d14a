import { Database } from "bun:sqlite";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { faultsOf } from "../db/check.ts";
import { looksLikeDatabase, nameDamage } from "../db/damage.ts";
import { requireOwn, versionOf } from "../db/version.ts";
import { CliError } from "./exit-code.ts";
import { refusePacked } from "./packed-backup.ts";
import { print } from "./print.ts";
import { fetched } from "./remote-backup.ts";

const remedy = "Use another backup.";

/** Reads a backup through: whether it is one, and whether it is whole. Throws for one that is not. */
export async function verify(file: string, { json }: { json?: boolean }): Promise<void> {
  if (!file.startsWith("s3://")) refusePacked(file);
  const folder = mkdtempSync(join(tmpdir(), "runnel-verify-"));
  try {
    const remote = file.startsWith("s3://") ? await fetched(file, join(folder, "fetched.db")) : null;
    const version = verified(remote?.file ?? file, file);
    print(
      json,
      { whole: true, file, name: remote?.name ?? null, version },
      () => `${file} is whole (version ${version}).`,
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function verified(path: string, named: string): number {
  if (!looksLikeDatabase(path, remedy)) throw new CliError(`There is no backup ${named}.`);
  const sqlite = new Database(path, { readonly: true });
  try {
    requireOwn(sqlite, named, remedy);
    const faults = faultsOf(sqlite, "full");
    if (faults.length > 0) throw new CliError(`${named} is damaged: ${faults.join("; ")}`);
    return versionOf(sqlite);
  } catch (error) {
    throw nameDamage(error, named, remedy);
  } finally {
    sqlite.close();
  }
}
