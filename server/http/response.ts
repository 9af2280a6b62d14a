/** Appends `request_id` to the JSON of an object without building the object again: lists may be large. */
export function withRequestId(body: object, requestId: string): string {
  const json = JSON.stringify(body);
  if (!json.startsWith("{")) return json; // Only objects have a place for it; the header says it everywhere.
  return `${json.slice(0, -1)}${json === "{}" ? "" : ","}"request_id":"${requestId}"}`;
}
