import type { Connection, Model } from "./model.ts";
import { openModel } from "./registry.ts";

const most = 64;

/**
 * Opens models and caches them: SDKs rebuild their schemas for every model object, which costs more than a short call.
 * A changed key or address opens another model.
 */
export function createModelCache(open: typeof openModel = openModel) {
  const models = new Map<string, Promise<Model>>();
  return (connection: Connection, model: string): Promise<Model> => {
    const key = JSON.stringify([connection, model]);
    const known = models.get(key);
    if (known) return known;
    const [oldest] = models.keys();
    if (oldest !== undefined && models.size >= most) models.delete(oldest);
    const opened = open(connection, model);
    models.set(key, opened);
    opened.catch(() => models.delete(key)); // A failure is not cached.
    return opened;
  };
}
