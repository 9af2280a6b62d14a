import type { Migrated, ToMigrate } from "./migrate-in-worker.ts";
import { openDatabase, type Ship } from "./open.ts";

declare const self: Worker;

self.onmessage = ({ data }: MessageEvent<ToMigrate>) => self.postMessage(migrated(data));

const ship: Ship = {
  attach: (sqlite) => void sqlite.run("PRAGMA wal_autocheckpoint = 0"),
  committed: async () => {},
};

function migrated({ path, vecLibrary, keepsLog }: ToMigrate): Migrated {
  try {
    if (keepsLog) openDatabase(path, { vecLibrary, ship }).sqlite.close(false);
    else openDatabase(path, { vecLibrary }).close();
    return null;
  } catch (error) {
    const { name, message } = error as Error;
    return { name, message };
  }
}
