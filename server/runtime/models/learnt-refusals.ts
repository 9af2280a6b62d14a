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
