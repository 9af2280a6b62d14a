// Of bodies that are answered again and again; null before the first answer.
const texts = new WeakMap<object, string | null>();
const longestText = 16 * 1024;

/** Says of a body that nobody changes it as long as it is answered: its JSON is made once, where that is no long one. */
export function lasting<Body extends object>(body: Body): Body {
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

/** Appends `request_id` to the JSON of an object without building the object again: lists may be large. */
export const withRequestId = (body: object, requestId: string): string => appendRequestId(jsonOf(body), requestId);

/** The same for a body that is JSON already. */
export function appendRequestId(json: string, requestId: string): string {
  if (!json.startsWith("{")) return json; // Only objects have a place for it; the header says it everywhere.
  return `${json.slice(0, -1)}${json === "{}" ? "" : ","}"request_id":"${requestId}"}`;
}

/** Takes away again what was appended. */
export function withoutRequestId(json: string, requestId: string): string {
  const end = `"request_id":"${requestId}"}`;
  return json.endsWith(end) ? `${json.slice(0, -end.length).replace(/,$/, "")}}` : json;
}
