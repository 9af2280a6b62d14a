import { expect, test } from "bun:test";
import fc from "fast-check";
import { turnsDuring } from "../testing/turns.ts";
import { maskFor, shortest } from "./mask.ts";
import { hideInAnyCase, hideInBytes, hideInJson, maskSecrets, maskSecretsAsync, maskTruncated } from "./redact.ts";

// Reference implementation: every spelling of the whole text with a position per character, every secret on its own.

interface Plain {
  text: string;
  places: number[];
}

const schemes: [form: RegExp, read: (escaped: string) => string][] = [
  [/\\(?:u[\da-f]{4}|["\\/bfnrt])/gi, (escaped) => controls[escaped] ?? fromCode(escaped.slice(2), 16) ?? escaped[1]!],
  [
    /%(?:[0-7][\da-f]|[cd][\da-f]%[89ab][\da-f]|e[\da-f]%[89ab][\da-f]%[89ab][\da-f])/gi,
    (escaped) => Buffer.from(escaped.replaceAll("%", ""), "hex").toString(),
  ],
  [
    /&(?:#\d{1,5}|#x[\da-f]{1,4}|quot|apos|amp|lt|gt);/gi,
    (escaped) =>
      entities[escaped.toLowerCase()] ??
      (/x/i.test(escaped) ? fromCode(escaped.slice(3, -1), 16) : fromCode(escaped.slice(2, -1), 10))!,
  ],
];
const controls: Record<string, string> = { "\\b": "\b", "\\f": "\f", "\\n": "\n", "\\r": "\r", "\\t": "\t" };
const fromCode = (digits: string, base: number) => (digits ? String.fromCharCode(Number.parseInt(digits, base)) : null);
const entities: Record<string, string> = { "&quot;": '"', "&apos;": "'", "&amp;": "&", "&lt;": "<", "&gt;": ">" };

function without([form, read]: (typeof schemes)[number], { text, places }: Plain): Plain {
  const plain: Plain = { text: "", places: [] };
  let end = 0;
  const keep = (to: number) => {
    plain.text += text.slice(end, to);
    plain.places.push(...places.slice(end, to));
  };
  for (const { 0: escaped, index } of text.matchAll(form)) {
    keep(index);
    plain.text += read(escaped)[0];
    plain.places.push(places[index]!);
    end = index + escaped.length;
  }
  keep(text.length);
  plain.places.push(places.at(-1)!);
  return plain;
}

function spellingsOf(text: string): Plain[] {
  const itself = { text, places: Array.from({ length: text.length + 1 }, (_, index) => index) };
  const once = schemes.map((scheme) => without(scheme, itself));
  return [itself, ...once, ...once.flatMap((each) => schemes.map((scheme) => without(scheme, each)))];
}

function naive(text: string, secrets: readonly string[], fold = (same: string) => same): string {
  const places: [from: number, to: number][] = [];
  for (const spelling of spellingsOf(text))
    for (const secret of secrets)
      for (let at = 0; at < spelling.text.length; at++)
        if (fold(spelling.text).startsWith(fold(secret), at))
          places.push([spelling.places[at]!, spelling.places[at + secret.length]!]);
  let [shown, end] = ["", 0];
  for (const [from, to] of places.sort(([a], [b]) => a - b)) {
    if (from >= end) shown += `${text.slice(end, from)}[hidden]`;
    end = Math.max(end, to);
  }
  return shown + text.slice(end);
}

const letters = fc.string({ unit: fc.constantFrom(..."aAb1%\\&;4"), minLength: shortest, maxLength: shortest + 3 });
const secretsOf = fc.array(letters, { minLength: 1, maxLength: 4 });

const escapes: ((char: string) => string)[] = [
  (char) => char,
  (char) => char,
  (char) => char,
  (char) => `\\u00${char.charCodeAt(0).toString(16)}`,
  (char) => `%${char.charCodeAt(0).toString(16)}`,
  (char) => `&#${char.charCodeAt(0)};`,
  (char) => JSON.stringify(char).slice(1, -1),
];

/** Secrets and pieces of them, with letters escaped once or twice, and partial escapes. */
const textOf = (secrets: readonly string[]) =>
  fc
    .array(
      fc.oneof(
        fc
          .tuple(fc.constantFrom(...secrets), fc.nat(shortest), fc.infiniteStream(fc.nat(escapes.length ** 2 - 1)))
          .map(([secret, from, ways]) =>
            Array.from(secret.slice(from < 4 ? 0 : from - 4), (char) => {
              const way = ways.next().value!;
              const once = escapes[way % escapes.length]!(char);
              return way % 5 === 0 ? Array.from(once, escapes[Math.floor(way / escapes.length)]!).join("") : once;
            }).join(""),
          ),
        fc.string({ unit: fc.constantFrom(..."aAb1%\\&;4u0#ce28x", "\\u00", "%e2%8", "&#x", "ü", "𝄞") }),
      ),
      { maxLength: 6 },
    )
    .map((parts) => parts.join(""));

const cases = secretsOf.chain((secrets) => fc.tuple(fc.constant(secrets), textOf(secrets)));

test("the mask hides exactly what a search for each secret in each spelling of the whole text finds", () => {
  fc.assert(
    fc.property(cases, ([secrets, text]) => {
      expect(maskSecrets(text, secrets)).toBe(naive(text, secrets));
      const lower = (each: string) => each.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
      expect(hideInAnyCase(text, secrets)).toBe(naive(text, secrets, lower));
    }),
    { numRuns: 400 },
  );
});

test("the result does not depend on the split of the text, and shown text stays", () => {
  fc.assert(
    fc.property(cases, fc.infiniteStream(fc.integer({ min: 1, max: 9 })), ([secrets, text], lengths) => {
      const mask = maskFor(secrets)!;
      let shown = "";
      for (let at = 0; at < text.length; ) {
        const length = lengths.next().value!;
        shown += mask.push(text.slice(at, at + length));
        at += length;
      }
      expect(shown + mask.end()).toBe(maskSecrets(text, secrets));
    }),
    { numRuns: 1000 },
  );
});

test("a text that ends within a secret, in any spelling, shows at most three letters of it", () => {
  fc.assert(
    fc.property(cases, ([secrets, text]) => {
      const begun = spellingsOf(maskTruncated(text, secrets)).flatMap((spelling) =>
        secrets.flatMap((secret) => [4, 5, 6, 7].filter((length) => spelling.text.endsWith(secret.slice(0, length)))),
      );
      expect(begun).toEqual([]);
    }),
    { numRuns: 1000 },
  );
});

test.each([
  ["a text that is all escapes", () => maskSecretsAsync("%41\\u0041&#65;".repeat(100_000), ["canary-0123456789"])],
  ["four million numbers", () => hideInJson(Array(4_000_000).fill(1), ["canary-0123456789"])],
])("while %s is looked through, others on the thread go on", async (_, work) => {
  const { turns } = await turnsDuring<unknown>(work);
  expect(turns).toBeGreaterThan(4);
});

test("a long text is masked like a short one, wherever a secret occurs", async () => {
  const secret = "canary-0123456789";
  for (const at of [0, 8185, 8192, 16_380, 20_000]) {
    const text = `${"&amp;".repeat(at / 5)}${"x".repeat(at % 5)}${secret}${"y".repeat(9000)}`;
    expect(await maskSecretsAsync(text, [secret])).toBe(text.replace(secret, "[hidden]"));
  }
  const same = "z".repeat(100_000);
  expect(await maskSecretsAsync(same, [secret])).toBe(same);
});

test("a secret in bytes becomes stars, and the rest stays the same", async () => {
  const secrets = ["canary-0123456789", "0123456789ü"];
  const bytes = Buffer.from("\0canary-0123456789ü\u0001canary-012345678 ü");
  const clean = Buffer.from(await hideInBytes(bytes, secrets));
  expect(clean.toString()).toBe(`\0${"*".repeat(19)}\u0001canary-012345678 ü`);
});
