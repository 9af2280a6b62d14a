import { hashJson } from "../../lib/hash.ts";
import type { ModelRequest } from "./model.ts";

/** Parts of requests that a model's server refused. Calls of one model share them, and learn from one another. */
export interface LearntRefusals {
  known: Set<string>;
  /** Called when the server took a request that left these out: they are worth remembering. */
  confirm(refusals: Iterable<string>): void;
}

/** Creates refusals that are forgotten with the model, unless `onLearnt` stores them. */
export function learntRefusals(onLearnt: (all: string[]) => void = () => {}): LearntRefusals {
  const confirmed = new Set<string>();
  return {
    known: new Set(),
    confirm(refusals) {
      const before = confirmed.size;
      for (const each of refusals) confirmed.add(each);
      if (confirmed.size > before) onLearnt([...confirmed]);
    },
  };
}

const fieldsMost = 64;

/**
 * Returns the refusals of requests with an agent's own fields, which may cause them: another agent's requests must not
 * lose a setting because of them.
 */
export function refusalsOfFields() {
  const found = new Map<string, Set<string>>();
  return ({ headers, body, options }: NonNullable<ModelRequest["extras"]>): Set<string> => {
    const key = hashJson([headers, body, options]);
    const refusals = found.get(key) ?? new Set();
    found.delete(key);
    found.set(key, refusals);
    const [oldest] = found.keys();
    if (oldest !== undefined && found.size > fieldsMost) found.delete(oldest);
    return refusals;
  };
}
