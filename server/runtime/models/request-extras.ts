import { isObject } from "../../lib/json.ts";

/** Returns fields with further ones. A field that both have keeps its value; two objects are merged the same way. */
export function withFields(own: Record<string, unknown>, more: Record<string, unknown>): Record<string, unknown> {
  const result = { ...own };
  for (const [name, value] of Object.entries(more)) {
    const before = Object.hasOwn(result, name) ? result[name] : undefined;
    if (before === undefined) result[name] = value;
    else if (isObject(before) && isObject(value)) result[name] = withFields(before, value);
  }
  return result;
}

/** Header whose values of several senders are one list. */
const listHeader = "anthropic-beta";

/** Adds headers to those of a request, which keep their values. */
export function withHeaders(own: RequestInit["headers"], more: Readonly<Record<string, string>>): Headers {
  const headers = new Headers(own);
  for (const [name, value] of Object.entries(more))
    if (!headers.has(name)) headers.set(name, value);
    else if (name.toLowerCase() === listHeader) headers.append(name, value);
  return headers;
}
