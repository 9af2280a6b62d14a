import { createYielder } from "../lib/cooperative-yield.ts";

/** A JSON object with long lists; items are created when written. */
export interface LongObject {
  fields: object;
  /** Replace the fields of the same names. */
  lists: Record<string, Iterable<unknown> | JsonBytes>;
}

/** A list that was written before, as UTF-8. */
export interface JsonBytes {
  json: Uint8Array<ArrayBuffer>;
}

// Characters encoded per write.
const piece = 64 * 1024;
// Characters written between two looks at the clock: a look after each item takes longer than the item.
const betweenLooks = 4 * 1024;

/** Returns a long JSON body, with `request_id`, written in slices that yield. */
export async function jsonStream(
  { fields, lists }: LongObject,
  { status = 200, headers }: { status?: number; headers: Record<string, string | number | undefined> },
): Promise<Response> {
  const parts = partsOf({ ...fields, request_id: headers["x-request-id"] }, lists);
  const isWritten = Object.values(lists).every((list) => "json" in list);
  const body = isWritten ? concatenated(parts) : await written(parts);
  // The framework adds the headers common to all responses.
  return new Response(body, {
    status,
    headers: { "content-type": "application/json", "cache-control": "no-store" },
  });
}

/** Joins parts. A blob is copied here only, and a Response copies bytes once more. */
const concatenated = (parts: Iterable<string | JsonBytes>): Blob =>
  new Blob(Array.from(parts, (part) => (typeof part === "string" ? part : part.json)));

/** Writes a list once, in slices that yield, for several bodies. */
export const listBytes = async (list: Iterable<unknown>): Promise<JsonBytes> => ({
  json: await written(listParts(list)),
});

async function written(parts: Iterable<string | JsonBytes>): Promise<Uint8Array<ArrayBuffer>> {
  const rest = createYielder();
  // A blob would need all parts at once, in memory twice.
  const bytes = new Bun.ArrayBufferSink();
  bytes.start({ asUint8Array: true });
  let text = "";
  let unlooked = 0;
  for (const part of parts) {
    if (typeof part === "string") {
      text += part;
      unlooked += part.length;
      if (unlooked < betweenLooks) continue;
      unlooked = 0;
    }
    if (typeof part !== "string" || text.length >= piece) {
      bytes.write(text);
      text = "";
    }
    if (typeof part !== "string") bytes.write(part.json);
    await rest();
  }
  bytes.write(text);
  return bytes.end() as Uint8Array<ArrayBuffer>;
}

/** Serializes an object, in parts if it has long lists. */
export function* jsonParts(object: object | LongObject): Generator<string> {
  if (!("lists" in object && "fields" in object)) return yield JSON.stringify(object);
  for (const part of partsOf(object.fields, object.lists))
    if (typeof part === "string") yield part;
    else yield* decoded(part);
}

function* decoded({ json }: JsonBytes): Generator<string> {
  const decoder = new TextDecoder();
  for (let at = 0; at < json.length; at += piece) yield decoder.decode(json.subarray(at, at + piece), { stream: true });
  yield decoder.decode();
}

function* partsOf(fields: object, lists: LongObject["lists"]): Generator<string | JsonBytes> {
  let before = "{";
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    yield `${before}${JSON.stringify(name)}:`;
    before = ",";
    const list = lists[name];
    if (!list) yield JSON.stringify(value);
    else if ("json" in list) yield list;
    else yield* listParts(list);
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
