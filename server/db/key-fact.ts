import type { Database } from "bun:sqlite";

/** Names a master key without telling it. */
export const masterKeyId = (key: Uint8Array): string =>
  new Bun.CryptoHasher("sha256").update("runnel master key ").update(key).digest("hex").slice(0, 16);

// The id stands in every database that has been served; the key itself only in a backup that was asked to hold it.
const [idFact, keyFact] = ["master_key_id", "master_key"] as const;

/** Which master key the database's secrets are encrypted under; null before anybody has noted it. */
export const readMasterKeyId = (sqlite: Database): string | null => read(sqlite, idFact);

export const noteMasterKeyId = (sqlite: Database, key: Uint8Array): void => put(sqlite, idFact, masterKeyId(key));

/** Puts the key itself into a copy of the database. */
export const packMasterKey = (sqlite: Database, key: Uint8Array): void => put(sqlite, keyFact, key.toHex());

/** Takes the key out of a copy again, without a trace in its free pages; null if there is none. */
export function unpackMasterKey(sqlite: Database): Uint8Array | null {
  const hex = read(sqlite, keyFact);
  if (hex === null) return null;
  sqlite.run("PRAGMA secure_delete = ON");
  sqlite.query("DELETE FROM facts WHERE name = ?").run(keyFact);
  return Uint8Array.fromHex(hex);
}

const read = (sqlite: Database, name: string): string | null =>
  sqlite.query<{ value: string }, [string]>("SELECT value FROM facts WHERE name = ?").get(name)?.value ?? null;

const put = (sqlite: Database, name: string, value: string): void =>
  void sqlite.query("INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)").run(name, value);
