import { expect, test } from "bun:test";
import { AppError } from "../domain/errors.ts";
import { turnsDuring } from "../testing/turns.ts";
import { chunksOf, readJsonBody, refuseBody } from "./json-body.ts";

type Body = string | Uint8Array<ArrayBuffer> | ReadableStream | null;

const json = { "content-type": "application/json" };
const post = (body: Body, headers: Record<string, string> = json) =>
  new Request("http://localhost/", { method: "POST", body, headers });

async function codeOf(request: Request): Promise<string> {
  try {
    await readJsonBody(request);
    return "accepted";
  } catch (error) {
    if (error instanceof AppError) return error.code;
    throw error;
  }
}

test.each<[string, Body, unknown]>([
  ["an object", '{"a":[1,"ä",null]}', { a: [1, "ä", null] }],
  ["nothing", "", {}],
  ["a byte order mark", '\uFEFF{"a":1}', { a: 1 }],
  ["64 levels", "[".repeat(64) + "]".repeat(64), JSON.parse("[".repeat(64) + "]".repeat(64))],
])("a body of %s is read", async (_, body, value) => {
  expect(await readJsonBody(post(body))).toEqual(value);
});

test.each<[string, Body, Record<string, string>, string]>([
  ["no type", new TextEncoder().encode("{}"), {}, "unsupported_media_type"],
  ["text", "{}", { "content-type": "text/plain" }, "unsupported_media_type"],
  ["a form", "a=1", { "content-type": "application/x-www-form-urlencoded" }, "unsupported_media_type"],
  ["UTF-16", "{}", { "content-type": "application/json; charset=utf-16" }, "unsupported_media_type"],
  ["compression", "{}", { ...json, "content-encoding": "gzip" }, "unsupported_media_type"],
  ["UTF-8 named so", "{}", { "content-type": "Application/JSON; charset=UTF-8" }, "accepted"],
  ["broken JSON", "{", json, "invalid_json"],
  ["broken UTF-8", new Uint8Array([0x22, 0xff, 0x22]), json, "invalid_json"],
  ["65 levels", "[".repeat(65) + "]".repeat(65), json, "invalid_json"],
  ["a name twice", '{"metadata":{"a":"1"},"input":"x","metadata":{}}', json, "invalid_json"],
  ["a name twice, once escaped", '{"a":[{"b":{},"\\u0062":1}]}', json, "invalid_json"],
  ["a name twice among colons in texts", '{"a":"::","a":":"}', json, "invalid_json"],
  ["an index twice", '{"0":1,"0":1}', json, "invalid_json"],
  ["a dangerous name twice", '{"__proto__":1,"__proto__":1}', json, "invalid_json"],
  ["a name twice, in two objects", '[{"a":{"a":"\\":"}},{"a":":"}]', json, "accepted"],
  ["names that differ in their case", '{"a":1,"A":1}', json, "accepted"],
  ["a number beyond all numbers", '{"temperature":1e999}', json, "invalid_json"],
  ["one below all numbers", "[[-1e400]]", json, "invalid_json"],
  ["the largest number", "[1.7976931348623157e308,1e-999]", json, "accepted"],
  ["400,000 levels", "[".repeat(400_000), json, "invalid_json"],
  ["one byte too many", `"${"x".repeat(1024 * 1024 - 1)}"`, json, "payload_too_large"],
  ["as many bytes as allowed", `"${"x".repeat(1024 * 1024 - 2)}"`, json, "accepted"],
  ["a dangerous key", '{"metadata":{"__proto__":{}}}', json, "validation_failed"],
  ["an escaped dangerous key", '{"a":[{"\\u0063onstructor":1}]}', json, "validation_failed"],
])("a body with %s is answered as it should", async (_, body, headers, code) => {
  expect(await codeOf(post(body, headers))).toBe(code);
});

test("a body that is shorter than announced is refused, also an empty one", async () => {
  for (const body of ["", "{}"]) {
    const announced = { ...json, "content-length": "20" };
    expect(await codeOf(post(body, announced))).toBe("invalid_json");
    const chunks = Array.fromAsync(chunksOf(post(body || "x", announced)));
    expect(await chunks.catch(({ name }) => name)).toBe("AbortError");
  }
});

test("a repeated name in an object is reported without its escapes", async () => {
  const body = '{"a\\"b":1,"list":[{"x":1},{"y":{"x":1}}],"c":{"d\\u0065":1,"x":"{","d\\u0065":2}}';
  expect(readJsonBody(post(body))).rejects.toThrow('An object in it has the name "de" twice.');
});

test("an endless body is read no further than the limit", async () => {
  let sent = 0;
  const endless = new ReadableStream({
    pull(controller) {
      sent += 64 * 1024;
      controller.enqueue(new Uint8Array(64 * 1024).fill(91));
    },
  });
  expect(await codeOf(post(endless))).toBe("payload_too_large");
  expect(sent).toBeLessThan(2 * 1024 * 1024);
});

// Hashing and writing four bodies of 20 MB took 25 ms of a turn.
test("a body that arrives faster than it is consumed is passed on in slices with pauses for other work", async () => {
  const body = new Uint8Array(5 * 1024 * 1024).map((_, at) => at % 251);
  const taken: Uint8Array[] = [];
  const { turns } = await turnsDuring(async () => {
    for await (const piece of chunksOf(post(body))) taken.push(piece);
  });
  expect(Math.max(...taken.map(({ length }) => length))).toBeLessThanOrEqual(256 * 1024);
  expect(Buffer.concat(taken).equals(body)).toBe(true);
  expect(turns).toBeGreaterThanOrEqual(20);
});

test("a long body is parsed in slices, and a short one at once", async () => {
  const list = Array.from({ length: 50_000 }, (_, at) => ({ at }));
  const long = await turnsDuring(() => readJsonBody(post(JSON.stringify({ list }))));
  expect(long.result).toEqual({ list });
  const short = await turnsDuring(() => readJsonBody(post(JSON.stringify({ list: list.slice(0, 1000) }))));
  expect(long.turns).toBeGreaterThan(short.turns + 5);
});

test("a body whose declared size is too large is not read", async () => {
  expect(await codeOf(post("{}", { ...json, "content-length": "1048577" }))).toBe("payload_too_large");
});

test("a body cut off by its sender is a client error, and any other failure is ours", async () => {
  const failing = (error: Error) => post(new ReadableStream({ pull: (controller) => controller.error(error) }));
  expect(await codeOf(failing(new DOMException("The connection was closed.", "AbortError")))).toBe("invalid_json");
  expect(codeOf(failing(new TypeError("A mistake.")))).rejects.toThrow("A mistake.");
});

test("a request that takes no body refuses one", async () => {
  expect(await refuseBody(post("{}"))).toBeNull();
  expect(refuseBody(post('{"force":true}'))).rejects.toThrow("takes no body");
});
