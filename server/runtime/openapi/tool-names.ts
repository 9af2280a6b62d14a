import { sha256 } from "../../lib/hash.ts";

const lengthMost = 64;

/** An operation, and the name that the document gives it. */
interface Named {
  operation: string;
  operation_id: string | null;
}

/**
 * Returns a name for each operation: at most 64 letters, digits, `_` and `-`. Equal names, and those that are cut, end
 * in a hash of the operation, so that a name does not depend on the other operations' order.
 */
export function toolNames(operations: readonly Named[], prefix: string): string[] {
  const plain = operations.map(
    ({ operation, operation_id }) => `${prefix}${cleaned(operation_id ?? "") || cleaned(operation)}`,
  );
  const count = new Map<string, number>();
  for (const name of plain) count.set(key(name), (count.get(key(name)) ?? 0) + 1);
  return plain.map((name, index) => {
    if (name.length <= lengthMost && count.get(key(name)) === 1) return name;
    const hash = sha256(operations[index]!.operation).slice(0, 8);
    return `${name.slice(0, lengthMost - hash.length - 1)}_${hash}`;
  });
}

// Names that differ in their case alone are easily confused.
const key = (name: string): string => name.slice(0, lengthMost).toLowerCase();

const cleaned = (name: string): string => name.replaceAll(/[^A-Za-z0-9_-]+/g, "_").replaceAll(/^_+|_+$/g, "");
