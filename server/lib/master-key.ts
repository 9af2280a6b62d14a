import { closeSync, existsSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";

type Environment = Record<string, string | undefined>;

/** Loads the key that encrypts secrets at rest: from `RUNNEL_MASTER_KEY`, or a file beside the database. */
export function loadMasterKey(folder: string, environment: Environment): Uint8Array {
  const environmentKey = masterKeyFrom(environment);
  if (environmentKey) return environmentKey;
  const path = join(folder, "master.key");
  if (!existsSync(path)) create(path);
  return parse(readFileSync(path, "utf8").trim(), path);
}

/** Returns the key from the variable, or null if it is not set. Throws if it is malformed. */
export function masterKeyFrom({ RUNNEL_MASTER_KEY }: Environment): Uint8Array | null {
  const keyText = RUNNEL_MASTER_KEY?.trim();
  return keyText ? parse(keyText, "RUNNEL_MASTER_KEY") : null;
}

class MasterKeyUnusable extends Error {
  override name = "MasterKeyUnusable";
}

function parse(text: string, source: string): Uint8Array {
  if (!/^[0-9a-f]{64}$/i.test(text))
    throw new MasterKeyUnusable(`${source} must hold 32 bytes as 64 hexadecimal digits.`);
  return Uint8Array.fromHex(text);
}

/** Creates the file whole or not at all, and never over another one: without its key, encrypted data is lost. */
function create(path: string): void {
  const temporary = `${path}.${process.pid}`;
  const file = openSync(temporary, "wx", 0o600);
  try {
    writeSync(file, `${crypto.getRandomValues(new Uint8Array(32)).toHex()}\n`);
    fsyncSync(file);
    linkSync(temporary, path);
  } catch (error) {
    if (!existsSync(path)) throw error; // Another process created it a moment ago: its key counts.
  } finally {
    closeSync(file);
    rmSync(temporary, { force: true });
  }
}
