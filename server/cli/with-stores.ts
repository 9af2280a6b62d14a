import { commandPlace } from "./command-place.ts";
import type { Stores } from "./open-data.ts";

/** Runs a command on what a data directory keeps, or on what the leader does that it was sent to; `create` makes the directory where there is none. */
export async function withStores<T>(
  dataDir: string,
  create: boolean,
  work: (stores: Stores) => T | Promise<T>,
): Promise<T> {
  const place = commandPlace();
  if (place) return await work(place.stores);
  return (await import("./open-data.ts")).withData(dataDir, { create }, work);
}
