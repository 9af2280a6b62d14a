import { isExactNumber } from "../lib/exact-numbers.ts";

/** True if two JSON values are equal, regardless of key order. */
export function equalJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  if (isExactNumber(a) || isExactNumber(b)) return isExactNumber(a) && isExactNumber(b) && a.rawJSON === b.rawJSON;
  const [left, right] = [a as Record<string, unknown>, b as Record<string, unknown>];
  const keys = Object.keys(left);
  return (
    keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && equalJson(left[key], right[key]))
  );
}
