/** Appends `request_id` to the JSON of an object without building the object again: lists may be large. */
export const withRequestId = (body: object, requestId: string): string =>
  appendRequestId(JSON.stringify(body), requestId);

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
