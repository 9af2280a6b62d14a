import { hasParts } from "../lib/json.ts";

/** Tells which responses of a service are failures, and what they mean. All of its conditions must hold. */
export interface ResponseFailure {
  status?: number;
  /** Path of a field of the JSON response, such as `error.code`. Without `equals`, it must be there and not be null. */
  field?: string;
  equals?: string | number | boolean | null;
  /** Words for the model beside the response. */
  hint?: string;
  /** The service did not perform the call, so it may be sent again. */
  repeat?: boolean;
}

/** Returns the rules that a response matches; `value` is its JSON, undefined if it has none. */
export const matchingFailures = (
  rules: readonly ResponseFailure[],
  status: number,
  value: unknown,
): ResponseFailure[] => rules.filter((rule) => matches(rule, status, value));

function matches({ status: wanted, field, equals }: ResponseFailure, status: number, value: unknown): boolean {
  if (wanted !== undefined && wanted !== status) return false;
  if (field === undefined) return true;
  const found = fieldOf(value, field);
  return equals === undefined ? found !== undefined && found !== null : found === equals;
}

function fieldOf(value: unknown, path: string): unknown {
  let at = value;
  for (const name of path.split(".")) {
    if (!hasParts(at) || Array.isArray(at) || !Object.hasOwn(at, name)) return undefined;
    at = (at as Record<string, unknown>)[name];
  }
  return at;
}
