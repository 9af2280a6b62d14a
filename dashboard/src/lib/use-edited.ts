import { useState } from "react";

/** Something that is edited in a form. */
interface Edited<Thing, Draft> {
  /** What the draft was made from: what somebody else saves meanwhile may not slip in unseen. */
  base: Thing;
  draft: Draft;
  /** What the draft says otherwise, as the API takes it. */
  changes: Record<string, unknown>;
  isDirty: boolean;
  /** Whether it was tried to save: from then on, what is wrong is said. */
  tried: boolean;
  setTried: (tried: boolean) => void;
  /** What somebody else has saved meanwhile, once that is known. */
  newer: Thing | null;
  setNewer: (newer: Thing | null) => void;
  edit: (change: Partial<Draft>) => void;
  /** Begins anew with what is saved. */
  take: (saved: Thing) => void;
  /** Makes the draft one of the newer thing: what was written stands, the rest is the newer's. Returns its changes. */
  rebase: (newer: Thing) => Record<string, unknown>;
}

/** The draft of a thing, from its first letter until it is saved. */
export function useEdited<Thing, Draft extends object>(
  current: Thing,
  draftOf: (thing: Thing) => Draft,
  changesOf: (draft: Draft, base: Thing) => Record<string, unknown>,
): Edited<Thing, Draft> {
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
    tried,
    setTried,
    newer,
    setNewer,
    edit: (change) => setDraft((before) => ({ ...before, ...change })),
    take: (saved) => begin(saved, draftOf(saved)),
    rebase: (next) => {
      const both = rebased(draft, draftOf(base), draftOf(next));
      begin(next, both);
      return changesOf(both, next);
    },
  };
}

/** A draft of one thing, as if it had been made of a newer one: what was written in it stands, the rest is the newer's. */
export function rebased<Draft extends object>(draft: Draft, begun: Draft, newer: Draft): Draft {
  const written = Object.entries(draft).filter(
    ([field, value]) => JSON.stringify(value) !== JSON.stringify(begun[field as keyof Draft]),
  );
  return { ...newer, ...(Object.fromEntries(written) as Partial<Draft>) };
}
