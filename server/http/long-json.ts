import { inSlices } from "../lib/slices.ts";

/** An object whose lists may be long: an item is made when it is written. */
export interface LongObject {
  fields: object;
  /** Instead of the fields of these names. */
  lists: Record<string, Iterable<unknown>>;
}

// Characters that are made bytes at once.
const piece = 64 * 1024;

/** A JSON response with a long body, which is written in slices, with `request_id`. */
export async function longJson(
  { fields, lists }: LongObject,
  { status = 200, headers }: { status?: number; headers: Record<string, string | number | undefined> },
): Promise<Response> {
  const rest = inSlices();
  // A blob's memory is not the collector's, which would leave it for a while.
  const bytes = new Bun.ArrayBufferSink();
  bytes.start({ asUint8Array: true });
  let text = "";
  for (const part of partsOf({ ...fields, request_id: headers["x-request-id"] }, lists)) {
    text += part;
    if (text.length >= piece) {
      bytes.write(text);
      text = "";
    }
    await rest();
  }
  bytes.write(text);
  // The framework adds the headers that every response has.
  return new Response(bytes.end() as Uint8Array<ArrayBuffer>, {
    status,
    headers: { "content-type": "application/json", "cache-control": "no-store" },
  });
}

/** An object as JSON, in parts where it is long. */
export function* jsonParts(object: object | LongObject): Generator<string> {
  if ("lists" in object && "fields" in object) yield* partsOf(object.fields, object.lists);
  else yield JSON.stringify(object);
}

function* partsOf(fields: object, lists: LongObject["lists"]): Generator<string> {
  let before = "{";
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    yield `${before}${JSON.stringify(name)}:`;
    before = ",";
    const list = lists[name];
    if (list) yield* listParts(list);
    else yield JSON.stringify(value);
  }
  yield "}";
}

function* listParts(list: Iterable<unknown>): Generator<string> {
  let before = "[";
  for (const item of list) {
    yield before + JSON.stringify(item);
    before = ",";
  }
  yield before === "[" ? "[]" : "]";
}
