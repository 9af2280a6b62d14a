import type { Stores } from "./open-data.ts";

/** Runs a command on what a data directory keeps; `create` makes the directory where there is none. */
export async function withStores<T>(
  dataDir: string,
  create: boolean,
  work: (stores: Stores) => T | Promise<T>,
): Promise<T> {
  return (await import("./open-data.ts")).withData(dataDir, { create }, work);
}
