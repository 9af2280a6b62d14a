import { createYielder } from "../lib/cooperative-yield.ts";

/** A JSON object with long lists; items are created when written. */
export interface LongObject {
  fields: object;
  /** Replace the fields of the same names. */
  lists: Record<string, Iterable<unknown>>;
}

// Characters encoded per write.
const piece = 64 * 1024;

/** Returns a long JSON body, with `request_id`, written in slices that yield. */
export async function jsonStream(
  { fields, lists }: LongObject,
  { status = 200, headers }: { status?: number; headers: Record<string, string | number | undefined> },
): Promise<Response> {
  const rest = createYielder();
  // A blob's memory is outside the garbage collector and would be freed late.
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
  // The framework adds the headers common to all responses.
  return new Response(bytes.end() as Uint8Array<ArrayBuffer>, {
    status,
    headers: { "content-type": "application/json", "cache-control": "no-store" },
  });
}

/** Serializes an object, in parts if it has long lists. */
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
