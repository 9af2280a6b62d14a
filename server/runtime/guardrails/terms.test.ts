import { expect, test } from "bun:test";
import fc from "fast-check";
import { createYielder } from "../../lib/cooperative-yield.ts";
import { turnsDuring } from "../../testing/turns.ts";
import { foldTerm } from "./fold.ts";
import { mergeSpans, type Span } from "./span.ts";
import { createTermSearch } from "./terms.ts";

function find(terms: string[], text: string): Span[] {
  const scanner = createTermSearch(terms).scan();
  scanner.push(text);
  return scanner.spans;
}
const texts = (terms: string[], text: string) => find(terms, text).map(([start, end]) => text.slice(start, end));

test.each<[string, string, string, string[]]>([
  ["in any case", "Straße", "STRASSE straße", ["STRASSE", "straße"]],
  ["in a longer word", "bid", "forbidden", ["bid"]],
  ["in full width", "bad", "so ｂａＤ!", ["ｂａＤ"]],
  ["in mathematical letters", "bad", "𝓫𝓪𝓭 𝐛𝐚𝐝", ["𝓫𝓪𝓭", "𝐛𝐚𝐝"]],
  ["with accents, whole or combined", "resume", "Résumé re\u0301sume\u0301.", ["Résumé", "re\u0301sume\u0301"]],
  ["with what nobody sees between", "bad", "b\u200ba\u00add\ufe0f b\u2060ad", ["b\u200ba\u00add\ufe0f", "b\u2060ad"]],
  ["in letters that look alike", "cop", "сор cοp", ["сор", "cοp"]],
  ["of such letters throughout", "сор", "СОР", ["СОР"]],
  ["across line breaks and blanks", "two words", "Two \n\u00a0words", ["Two \n\u00a0words"]],
  ["in a ligature, which goes as a whole", "fi", "ﬁne", ["ﬁ"]],
  ["of final sigma", "ΛΌΓΟΣ", "λόγος", ["λόγος"]],
  ["of Turkish letters", "istanbul", "İSTANBUL", ["İSTANBUL"]],
  ["of scripts without case", "禁止", "これは禁止です", ["禁止"]],
  ["of Japanese in half width", "ガード", "ｶﾞｰﾄﾞ", ["ｶﾞｰﾄﾞ"]],
  ["of emoji", "😀", "a😀b", ["😀"]],
])("a term is found %s", (_, term, text, expected) => {
  expect(texts([term], text)).toEqual(expected);
});

test("terms that are suffixes of other terms are found", () => {
  expect(find(["abcd", "bc", "cde"], "xabcx bcdex abcd")).toEqual([
    [2, 4],
    [6, 10],
    [12, 16],
  ]);
});

test("exactly the places of a plain search are found", () => {
  const word = fc.string({ unit: fc.constantFrom("a", "b", "c"), minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(
      fc.array(word, { minLength: 1, maxLength: 5 }),
      fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 20 }),
      (terms, text) => {
        const plain: Span[] = [];
        for (const term of terms)
          for (let at = text.indexOf(term); at >= 0; at = text.indexOf(term, at + 1))
            plain.push([at, at + term.length]);
        expect(find(terms, text)).toEqual(mergeSpans([plain]));
      },
    ),
    { numRuns: 1000 },
  );
});

test("every Unicode character can be read", () => {
  for (let code = 0; code <= 0x10ffff; code += 7) foldTerm(String.fromCodePoint(code));
  expect(foldTerm(" \u200b ")).toEqual([]);
});

test("a thousand long terms cost no more per character than one", () => {
  const terms = Array.from({ length: 1000 }, (_, i) => `${"ab".repeat(95)}${i}`);
  const { scan } = createTermSearch(terms);
  const text = "ab".repeat(500_000);
  const scanner = scan();
  scanner.push(text);
  expect(scanner.spans).toEqual([]);
}, 60_000);

// Without slices, each agent with its own list blocked the thread for 56 ms.
test("a large tree is built in slices, also for two concurrent requests, and finds the same", async () => {
  const terms = Array.from({ length: 1000 }, (_, index) => `${index}`.padEnd(99, "abcdefgh"));
  const { prepare, scan } = createTermSearch(terms);
  const { turns } = await turnsDuring(() => Promise.all([prepare(createYielder()), prepare(createYielder())]));
  expect(turns).toBeGreaterThan(100);
  const text = `${terms[7]} ${terms[999]} ${terms[8]!.slice(1)}`;
  const scanner = scan();
  scanner.push(text);
  expect(scanner.spans).toEqual(find(terms, text));
  expect(scanner.spans).toHaveLength(2);
});
