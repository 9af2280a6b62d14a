import { existsSync } from "node:fs";
import { join } from "node:path";
import type { DataDir } from "../../storage/db/data-dir.ts";
import { readMasterKeyId } from "../../storage/db/master-key-fingerprint.ts";
import type { Db } from "../../storage/db/open.ts";
import { CliError } from "../commands/exit-code.ts";

/**
 * Returns the master key of a data directory, created if its database has none yet. Throws if the database's key is
 * missing: a new one could decrypt nothing, and would hide the loss.
 */
export function masterKeyOf(dir: DataDir, { sqlite }: Db): Uint8Array {
  const file = join(dir.path, "master.key");
  const storedKeyId = readMasterKeyId(sqlite);
  if (storedKeyId !== null && !process.env.RUNNEL_MASTER_KEY?.trim() && !existsSync(file))
    throw new CliError(
      `${file} is missing. The secrets in the database were encrypted under the master key ${storedKeyId}. ` +
        "Put the file back from where you keep it (mode 600), or set RUNNEL_MASTER_KEY. " +
        "If the key is lost, so are these secrets: write 64 new hexadecimal digits into the file, and set the secrets anew.",
    );
  return dir.masterKey(process.env);
}
