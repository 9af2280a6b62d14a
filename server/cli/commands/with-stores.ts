import { commandTarget } from "./command-target.ts";
import type { Stores } from "./open-data.ts";

/**
 * Runs a command on the stores of a data directory, or on the leader's if it was sent there; `create` creates a missing
 * directory.
 */
export async function withStores<T>(
  dataDir: string,
  create: boolean,
  work: (stores: Stores) => T | Promise<T>,
): Promise<T> {
  const place = commandTarget();
  if (place) return await work(place.stores);
  return (await import("./open-data.ts")).withData(dataDir, { create }, work);
}
