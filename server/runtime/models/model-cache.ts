import { type LearntRefusals, learntRefusals } from "./learnt-refusals.ts";
import type { Connection, Model } from "./model.ts";
import { openModel } from "./registry.ts";

const most = 64;

interface CacheOptions {
  open?(connection: Connection, model: string, fetch: undefined, refusals: LearntRefusals): Promise<Model>;
  /** Called with all refusals of a model's server that are known now. */
  onLearnt?(connection: Connection, model: string, refusals: string[]): void;
}

/**
 * Opens models and caches them: SDKs rebuild their schemas for every model object, which costs more than a short call.
 * A changed key or address opens another model. `known` are refusals of its server that others learnt.
 */
export function createModelCache({ open = openModel, onLearnt }: CacheOptions = {}) {
  const models = new Map<string, { opened: Promise<Model>; refusals: LearntRefusals }>();

  function openNew(key: string, connection: Connection, model: string) {
    const [oldest] = models.keys();
    if (oldest !== undefined && models.size >= most) models.delete(oldest);
    const refusals = learntRefusals((all) => onLearnt?.(connection, model, all));
    const entry = { opened: open(connection, model, undefined, refusals), refusals };
    models.set(key, entry);
    entry.opened.catch(() => models.delete(key)); // A failure is not cached.
    return entry;
  }

  return (connection: Connection, model: string, known: readonly string[] = []): Promise<Model> => {
    const key = JSON.stringify([connection, model]);
    const { opened, refusals } = models.get(key) ?? openNew(key, connection, model);
    for (const each of known) refusals.known.add(each);
    return opened;
  };
}
