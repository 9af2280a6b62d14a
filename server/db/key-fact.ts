import type { Database } from "bun:sqlite";
import { noteFact, readFact } from "./facts.ts";

/** Names a master key without telling it. */
export const masterKeyId = (key: Uint8Array): string =>
  new Bun.CryptoHasher("sha256").update("runnel master key ").update(key).digest("hex").slice(0, 16);

// The id stands in every database that has been served; the key itself only in a backup that was asked to hold it.
const [idFact, keyFact] = ["master_key_id", "master_key"] as const;

/** Which master key the database's secrets are encrypted under; null before anybody has noted it. */
export const readMasterKeyId = (sqlite: Database): string | null => readFact(sqlite, idFact);

export const noteMasterKeyId = (sqlite: Database, key: Uint8Array): void => noteFact(sqlite, idFact, masterKeyId(key));

/** Puts the key itself into a copy of the database. */
export const packMasterKey = (sqlite: Database, key: Uint8Array): void => noteFact(sqlite, keyFact, key.toHex());

/** Takes the key out of a copy again, without a trace in its free pages; null if there is none. */
export function unpackMasterKey(sqlite: Database): Uint8Array | null {
  const hex = readFact(sqlite, keyFact);
  if (hex === null) return null;
  sqlite.run("PRAGMA secure_delete = ON");
  sqlite.query("DELETE FROM facts WHERE name = ?").run(keyFact);
  return Uint8Array.fromHex(hex);
}
