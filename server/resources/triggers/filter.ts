import { isExactNumber } from "../../lib/exact-numbers.ts";
import { parseEventPath, type TriggerEvent, textOfValue, valueAt } from "./event-path.ts";

/** A condition of a filter. */
export interface Condition {
  path: string;
  in?: readonly Scalar[];
  not_in?: readonly Scalar[];
}
type Scalar = string | number | boolean;

/** Returns the first condition that an event does not meet, or null. */
export const unmetCondition = (filter: readonly Condition[], event: TriggerEvent): Condition | null =>
  filter.find((condition) => !isMet(condition, event)) ?? null;

function isMet({ path, in: wanted, not_in: unwanted = [] }: Condition, event: TriggerEvent): boolean {
  const parsed = parseEventPath(path);
  const value = parsed ? valueAt(event, parsed) : undefined;
  const isListed = (list: readonly Scalar[]) => isScalar(value) && list.map(textOfValue).includes(textOfValue(value));
  return wanted ? isListed(wanted) : !isListed(unwanted);
}

// Compared as texts, because all values of forms and headers are texts.
const isScalar = (value: unknown): boolean =>
  ["string", "number", "boolean"].includes(typeof value) || isExactNumber(value);
