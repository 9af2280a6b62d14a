import type { Memory as Store } from "../../../../server/wire/memory.ts";
import { readSeconds } from "./memory-words.ts";

/** What of a store is named by a person, as it stands in a form. */
interface Basics {
  name: string;
  ttl: string;
}

type Named = Pick<Store, "name" | "ttl_seconds">;

/** A store in a form. */
export const basicsOf = ({ name, ttl_seconds }: Named): Basics => ({
  name,
  ttl: ttl_seconds === null ? "" : String(ttl_seconds),
});

/** What a form says otherwise than a store, as the API takes it. */
export function basicsChanges({ name, ttl }: Basics, store: Named): Partial<Named> {
  const { seconds, fault } = readSeconds(ttl);
  return {
    ...(name.trim() !== store.name && { name: name.trim() }),
    ...((fault !== null || seconds !== store.ttl_seconds) && { ttl_seconds: seconds }),
  };
}

const words = { name: "name", ttl_seconds: "expiry" } as const;

/** What is changed, in words. */
export const basicsWords = (changes: Partial<Named>): string[] =>
  Object.keys(changes).map((field) => words[field as keyof Named]);
