import { expect, test } from "bun:test";
import fc from "fast-check";
import { createStreamMask, mark, maskedValue, unmaskedJson } from "./exact-masks.ts";
import { parseExact } from "./exact-numbers.ts";

const fields = new Set(["args"]);
const digits = "2512292042121000001";

const through = (mask: ReturnType<typeof createStreamMask>, pieces: readonly Uint8Array[]): string =>
  Buffer.concat([...pieces.map((piece) => mask.push(piece)), mask.end()]).toString();

function cut(bytes: Uint8Array, sizes: readonly number[]): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const size = sizes[i % sizes.length]!;
    pieces.push(bytes.subarray(at, at + size));
    at += size;
  }
  return pieces;
}

test("a number in JSON text gets its exact digits back, even in nested JSON texts", () => {
  const written = JSON.stringify(maskedValue(parseExact(`{"a":[${digits},7],"b":1e400}`)));
  const plain = `{"a":[${digits},7],"b":1e400}`;
  const nested = [1, 2, 3].reduce((json) => JSON.stringify({ text: json }), written);
  expect(unmaskedJson(written)).toBe(plain);
  expect(unmaskedJson(nested)).toBe([1, 2, 3].reduce((json) => JSON.stringify({ text: json }), plain));
});

const event = fc.oneof(
  fc.constantFrom(": ping", 'data: {"args":"no number"}', `data: {"other":${digits}}`, "event: x\ndata: {}"),
  fc.constant(`data: {"args":{"id":${digits}}}`),
);

test("a stream has the same result for every split", () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 8 });
  const newline = fc.constantFrom("\n", "\r\n", "\r");
  fc.assert(
    fc.property(fc.array(event, { maxLength: 6 }), newline, sizes, fc.boolean(), (events, line, pieces, isCut) => {
      const text = events.map((each) => `${each.replaceAll("\n", line)}${line}${line}`).join("");
      const bytes = Buffer.from(isCut ? text.slice(0, -1) : text);
      const shown = through(createStreamMask("event", fields, 1000), cut(bytes, pieces));
      expect(shown).toBe(through(createStreamMask("event", fields, 1000), [bytes]));
      expect(shown.split(`"${mark}${digits}"`)).toHaveLength(
        events.filter((each) => each.includes('{"id"')).length + 1,
      );
    }),
  );
});

test("an event is passed on as soon as its end arrives, even if that is split", () => {
  const mask = createStreamMask("event", fields, 1000);
  const push = (text: string) => Buffer.from(mask.push(Buffer.from(text))).toString();
  expect(["data: 1\n", "\ndata: 2\r\n", "\r", "\n"].map(push)).toEqual(["", "data: 1\n\n", "", "data: 2\r\n\r\n"]);
});

test("no more than the bound is held back", () => {
  const mask = createStreamMask("event", fields, 100);
  expect(mask.push(Buffer.alloc(100, 97))).toHaveLength(0);
  expect(mask.push(Buffer.alloc(1, 97))).toHaveLength(101);
});
