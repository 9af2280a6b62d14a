import type { Memory as Store } from "../../../../server/domain/api-types/memory.ts";
import { readSeconds } from "./memory-words.ts";

/** The name and expiry of a store, as the form holds them. */
interface Basics {
  name: string;
  ttl: string;
}

type Named = Pick<Store, "name" | "ttl_seconds">;

/** Returns the form's values of a store. */
export const basicsOf = ({ name, ttl_seconds }: Named): Basics => ({
  name,
  ttl: ttl_seconds === null ? "" : String(ttl_seconds),
});

/** Returns the fields in which the form differs from the store, in the API's format. */
export function basicsChanges({ name, ttl }: Basics, store: Named): Partial<Named> {
  const { seconds, fault } = readSeconds(ttl);
  return {
    ...(name.trim() !== store.name && { name: name.trim() }),
    ...((fault !== null || seconds !== store.ttl_seconds) && { ttl_seconds: seconds }),
  };
}

const words = { name: "name", ttl_seconds: "expiry" } as const;

/** Returns the names of the changed fields. */
export const basicsWords = (changes: Partial<Named>): string[] =>
  Object.keys(changes).map((field) => words[field as keyof Named]);
