import type { Filter, FilterValue } from "./filter.ts";
import { matchesFilter } from "./matches-filter.ts";

/** What is known of an entry for as long as there is one: whose it is, and its metadata as they are stored. */
export interface EntryFacts {
  scope_id: string;
  metadata: string;
}

/** The facts of a store's entries, each a number: entries that have the same share it. */
export interface FactNumbers {
  /** What they take of the memory, about. */
  readonly bytes: number;
  /** The number of an entry's facts; of an entry that is gone, one that no order allows. */
  of(facts: EntryFacts | undefined): number;
  /** Which facts an order may see. */
  allowed(order: { scope_id: string; filter: Filter | null }): (number: number) => boolean;
}

const gone = 1;
/** What an object and its places in arrays and maps take besides its text. */
const bytes_each = 300;

export function createFactNumbers(): FactNumbers {
  const numbers = new Map<string, number>();
  const known: { scope_id: string; metadata: Record<string, FilterValue> }[] = [];
  let bytes = 0;

  function of(facts: EntryFacts | undefined): number {
    if (!facts) return gone;
    const text = JSON.stringify([facts.scope_id, facts.metadata]);
    let number = numbers.get(text);
    if (number === undefined) {
      number = gone + known.push({ scope_id: facts.scope_id, metadata: JSON.parse(facts.metadata) });
      numbers.set(text, number);
      bytes += bytes_each + 4 * text.length;
    }
    return number;
  }

  /** Each is judged once, however many entries have it. */
  function allowed({ scope_id, filter }: { scope_id: string; filter: Filter | null }): (number: number) => boolean {
    const verdicts = new Uint8Array(gone + known.length + 1);
    for (const [index, each] of known.entries()) {
      const isSeen = each.scope_id === scope_id && (filter === null || matchesFilter(filter, each.metadata));
      verdicts[gone + 1 + index] = isSeen ? 1 : 0;
    }
    return (number) => verdicts[number] === 1;
  }

  return {
    get bytes() {
      return bytes;
    },
    of,
    allowed,
  };
}
