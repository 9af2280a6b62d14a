// JSON of bodies sent repeatedly; null before the first response.
const texts = new WeakMap<object, string | null>();
const longestText = 16 * 1024;

/** Marks a body as immutable, so that its JSON is cached unless it is long. */
export function cachedJson<Body extends object>(body: Body): Body {
  texts.set(body, null);
  return body;
}

function jsonOf(body: object): string {
  const known = texts.get(body);
  if (known) return known;
  const json = JSON.stringify(body);
  if (known === null && json.length <= longestText) texts.set(body, json);
  return json;
}

/** Appends `request_id` to the JSON of an object instead of copying the object, because lists may be large. */
export const withRequestId = (body: object, requestId: string): string => appendRequestId(jsonOf(body), requestId);

/** Appends `request_id` to JSON text. */
export function appendRequestId(json: string, requestId: string): string {
  if (!json.startsWith("{")) return json; // Only objects can have it; the header is always there.
  return `${json.slice(0, -1)}${json === "{}" ? "" : ","}"request_id":"${requestId}"}`;
}

/** Removes the appended `request_id`. */
export function withoutRequestId(json: string, requestId: string): string {
  const end = `"request_id":"${requestId}"}`;
  return json.endsWith(end) ? `${json.slice(0, -end.length).replace(/,$/, "")}}` : json;
}
