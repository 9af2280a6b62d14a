/** What a text says as JSON; undefined for a text that is none. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The same; a text that is none stands for itself. */
export function jsonOrText(text: string): unknown {
  const value = parsedJson(text);
  return value === undefined ? text : value;
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The fields of what may be an object; none of anything else. */
export const fieldsOf = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
