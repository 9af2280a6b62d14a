import type { Database } from "bun:sqlite";
import { getMetadata, setMetadata } from "./metadata.ts";

/** Returns an id of a master key that does not reveal the key. */
export const masterKeyId = (key: Uint8Array): string =>
  new Bun.CryptoHasher("sha256").update("runnel master key ").update(key).digest("hex").slice(0, 16);

// Every served database contains the id; only a backup made with its key contains the key.
const [idFact, keyFact] = ["master_key_id", "master_key"] as const;

/** Returns the id of the master key that encrypts the database's secrets; null if none is stored yet. */
export const readMasterKeyId = (sqlite: Database): string | null => getMetadata(sqlite, idFact);

export const setMasterKeyId = (sqlite: Database, key: Uint8Array): void =>
  setMetadata(sqlite, idFact, masterKeyId(key));

/** Stores the key itself in a copy of the database. */
export const packMasterKey = (sqlite: Database, key: Uint8Array): void => setMetadata(sqlite, keyFact, key.toHex());

/** Removes the key from a copy and overwrites it in the free pages. Returns the key, or null if there is none. */
export function unpackMasterKey(sqlite: Database): Uint8Array | null {
  const hex = getMetadata(sqlite, keyFact);
  if (hex === null) return null;
  sqlite.run("PRAGMA secure_delete = ON");
  sqlite.query("DELETE FROM facts WHERE name = ?").run(keyFact);
  return Uint8Array.fromHex(hex);
}
