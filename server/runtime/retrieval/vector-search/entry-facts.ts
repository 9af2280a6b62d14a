import type { Filter, FilterValue } from "./filter.ts";

/** Immutable facts of an entry: its scope, and its metadata as stored. */
export interface EntryFacts {
  scope_id: string;
  metadata: string;
}

/** Assigns numbers to entry facts; entries with equal facts share a number. */
export interface FactNumbers {
  /** Approximate bytes in memory. */
  readonly bytes: number;
  /** Returns the number of an entry's facts. A deleted entry gets one that no search allows. */
  of(facts: EntryFacts | undefined): number;
  /** Returns a test for the numbers that a search may see. */
  allowed(order: { scope_id: string; filter: Filter | null }): (number: number) => boolean;
}

const deletedNumber = 1;
/** Approximate bytes of an object in arrays and maps, besides its text. */
const bytes_each = 300;

export function createFactNumbers(): FactNumbers {
  const numbers = new Map<string, number>();
  const known: { scope_id: string; metadata: Record<string, FilterValue> }[] = [];
  let bytes = 0;

  function of(facts: EntryFacts | undefined): number {
    if (!facts) return deletedNumber;
    const text = JSON.stringify([facts.scope_id, facts.metadata]);
    let number = numbers.get(text);
    if (number === undefined) {
      number = deletedNumber + known.push({ scope_id: facts.scope_id, metadata: JSON.parse(facts.metadata) });
      numbers.set(text, number);
      bytes += bytes_each + 4 * text.length;
    }
    return number;
  }

  /** Applies scope and filter once per number, however many entries share it. */
  function allowed({ scope_id, filter }: { scope_id: string; filter: Filter | null }): (number: number) => boolean {
    const verdicts = new Uint8Array(deletedNumber + known.length + 1);
    for (const [index, each] of known.entries()) {
      const isSeen = each.scope_id === scope_id && (filter === null || matchesFilter(filter, each.metadata));
      verdicts[deletedNumber + 1 + index] = isSeen ? 1 : 0;
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

/** True if metadata matches the filter: the counterpart of `conditionOf` in memory. */
export function matchesFilter(filter: Filter, metadata: Readonly<Record<string, FilterValue>>): boolean {
  if ("all" in filter) return filter.all.every((each) => matchesFilter(each, metadata));
  if ("any" in filter) return filter.any.some((each) => matchesFilter(each, metadata));
  const value = Object.hasOwn(metadata, filter.field) ? metadata[filter.field] : undefined;
  if (filter.is === "$in") return filter.values.some((each) => each === value);
  if (filter.is === "$eq") return value === filter.value;
  if (filter.is === "$ne") return value !== filter.value;
  if (value === undefined || typeof value !== typeof filter.value) return false;
  const order = compare(value, filter.value);
  if (filter.is === "$gt") return order > 0;
  if (filter.is === "$gte") return order >= 0;
  return filter.is === "$lt" ? order < 0 : order <= 0;
}

/** Compares texts by their UTF-8 bytes, as the database does. */
function compare(a: FilterValue, b: FilterValue): number {
  return typeof a === "string" ? Buffer.compare(Buffer.from(a), Buffer.from(String(b))) : Number(a) - Number(b);
}
