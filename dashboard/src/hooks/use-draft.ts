import { useState } from "react";

/** An object that is edited in a form. */
interface DraftState<Thing, Draft> {
  /** Version that the draft is based on, so that changes saved elsewhere are noticed. */
  base: Thing;
  draft: Draft;
  /** API body of the changed fields. */
  changes: Record<string, unknown>;
  isDirty: boolean;
  /** True after the first attempt to save; errors are shown from then on. */
  hasTriedToSave: boolean;
  setTried: (tried: boolean) => void;
  /** Newer version saved elsewhere, if known. */
  newer: Thing | null;
  setNewer: (newer: Thing | null) => void;
  edit: (change: Partial<Draft>) => void;
  /** Starts over from the saved version. */
  reset: (saved: Thing) => void;
  /** Rebases the draft onto a newer version and returns its changes. */
  rebase: (newer: Thing) => Record<string, unknown>;
}

/** Draft of an object with its base version and changes. */
export function useDraft<Thing, Draft extends object>(
  current: Thing,
  draftOf: (thing: Thing) => Draft,
  changesOf: (draft: Draft, base: Thing) => Record<string, unknown>,
): DraftState<Thing, Draft> {
  const [base, setBase] = useState(current);
  const [draft, setDraft] = useState(() => draftOf(current));
  const [tried, setTried] = useState(false);
  const [newer, setNewer] = useState<Thing | null>(null);
  const changes = changesOf(draft, base);
  const begin = (thing: Thing, next: Draft) => {
    setBase(thing);
    setDraft(next);
    setNewer(null);
    setTried(false);
  };
  return {
    base,
    draft,
    changes,
    isDirty: Object.keys(changes).length > 0,
    hasTriedToSave: tried,
    setTried,
    newer,
    setNewer,
    edit: (change) => setDraft((before) => ({ ...before, ...change })),
    reset: (saved) => begin(saved, draftOf(saved)),
    rebase: (next) => {
      const rebased = rebaseDraft(draft, draftOf(base), draftOf(next));
      begin(next, rebased);
      return changesOf(rebased, next);
    },
  };
}

/** Rebases a draft: changes since `begun` stay, all other fields are the newer version's. */
export function rebaseDraft<Draft extends object>(draft: Draft, begun: Draft, newer: Draft): Draft {
  const ownChanges = Object.entries(draft).filter(
    ([field, value]) => JSON.stringify(value) !== JSON.stringify(begun[field as keyof Draft]),
  );
  return { ...newer, ...(Object.fromEntries(ownChanges) as Partial<Draft>) };
}
