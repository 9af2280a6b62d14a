import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { mergeSpans, type Span } from "../span.ts";
import { compile, patternFault } from "./pattern.ts";

/** Finds every match by trying all substrings. */
function allMatches(pattern: RegExp, text: string): Span[] {
  const found: Span[] = [];
  for (let start = 0; start < text.length; start++)
    for (let end = start + 1; end <= text.length; end++) {
      const exact = new RegExp(
        `(?<=^[^]{${start}})(?:${pattern.source})(?=[^]{${text.length - end}}$)`,
        flagsOf(pattern),
      );
      exact.lastIndex = start;
      const match = exact.exec(text);
      if (match && match.index === start && match[0].length === end - start) found.push([start, end]);
    }
  return mergeSpans([found]);
}
const flagsOf = ({ flags }: RegExp) => `${flags.replace("m", "")}y`;

function inPieces(pattern: string, pieces: readonly string[]): { spans: Span[]; safe: number[] } {
  const scanner = compile(pattern).scan();
  const safe = pieces.map((piece) => {
    scanner.push(piece);
    return scanner.safe;
  });
  scanner.end();
  return { spans: scanner.spans, safe };
}

const atom = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom("a", "b", " ", "-", "[ab]", "[^a]", ".", "\\w", "\\s", "\\d", "\\x{61}") },
  { weight: 1, arbitrary: fc.constantFrom("^", "$", "\\b", "\\B") },
);
const { pattern: anyPattern } = fc.letrec<{ pattern: string; sequence: string; item: string }>((tie) => ({
  pattern: fc.array(tie("sequence"), { minLength: 1, maxLength: 2 }).map((each) => each.join("|")),
  sequence: fc.array(tie("item"), { minLength: 1, maxLength: 4 }).map((each) => each.join("")),
  item: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    atom,
    fc
      .tuple(tie("pattern"), fc.constantFrom("", "?", "*", "+", "{2}", "{1,3}", "*?"))
      .map(([inner, repeat]) => `(?:${inner})${repeat}`),
  ),
}));
const texts = fc.string({ unit: fc.constantFrom("a", "b", " ", "-", "1", "\n"), maxLength: 12 });
const usable = anyPattern.filter((pattern) => patternFault(pattern) === null);
const native = (pattern: string) => new RegExp(pattern.replaceAll("\\x{61}", "a").replaceAll(".", "[^\\n]"));

test("search finds exactly the texts that a pattern matches", () => {
  fc.assert(
    fc.property(usable, texts, (pattern, text) => {
      expect(compile(pattern).search(text)).toEqual(allMatches(native(pattern), text));
    }),
    { numRuns: 1500 },
  );
});

test("a streamed text gives the same spans, and none begins before `safe`", () => {
  fc.assert(
    fc.property(usable, fc.array(texts, { maxLength: 5 }), (pattern, pieces) => {
      const text = pieces.join("");
      const { spans, safe } = inPieces(pattern, pieces);
      const whole = compile(pattern).search(text);
      expect(spans).toEqual(whole);
      let read = 0;
      for (const [i, piece] of pieces.entries()) {
        read += piece.length;
        // Other continuations, and the end of the text.
        for (const other of ["", "a", "ab-", " ", "1"]) {
          const then = compile(pattern).search(text.slice(0, read) + other);
          const decided = (list: Span[]) =>
            list.flatMap(([s, e]) => (s < safe[i]! ? [[s, Math.min(e, safe[i]!)]] : []));
          expect(decided(then)).toEqual(decided(whole));
        }
      }
    }),
    { numRuns: 300 },
  );
});

describe("RE2's syntax", () => {
  test.each<[string, string, string[]]>([
    ["(?i)straße", "Die STRAßE", ["STRAßE"]],
    ["(?i:a)b", "Ab AB", ["Ab"]],
    ["a(?i)b|c", "aB C AC", ["aB", "C", "C"]],
    ["(?P<year>\\d{4})-(?<m>\\d\\d)", "on 2026-11-21", ["2026-11"]],
    ["[[:upper:]]{2}[[:^digit:]]", "ABd AB1", ["ABd"]],
    ["\\pN+", "x²٣ y", ["²٣"]],
    ["\\p{Greek}+", "aβγ", ["βγ"]],
    ["\\p{^Greek}", "βx", ["x"]],
    ["[^\\PL]+", "1äö1", ["äö"]],
    ["\\Qa.b*\\E+", "a.b** aXb", ["a.b**"]],
    ["(?s)a.b", "a\nb", ["a\nb"]],
    ["a.b", "a\nb a😀b", ["a😀b"]],
    ["(?m)^x$", "y\nx\nz", ["x"]],
    ["^x$", "y\nx\nz", []],
    ["\\Ax\\z", "x", ["x"]],
    ["x{,2}", "x{,2} xx", ["x{,2}"]],
    ["[]a]+", "]a]", ["]a]"]],
    ["[a\\-z]+", "-b", ["-"]],
    ["\\x41\\x{1F600}\\101\\t", "A😀A\t", ["A😀A\t"]],
    ["[\\D]+", "12ab", ["ab"]],
    ["(?U)a+", "aaa", ["aaa"]],
  ])("%p finds in %p: %p", (pattern, text, expected) => {
    expect(
      compile(pattern)
        .search(text)
        .map(([start, end]) => text.slice(start, end)),
    ).toEqual(expected);
  });

  test.each([
    "(?=a)",
    "(?<!a)b",
    "(a)\\1",
    "a**",
    "a{2}{3}",
    "*a",
    "(a",
    "a)",
    "[a",
    "[b-a]",
    "\\",
    "\\p{Nope}",
    "\\y",
    "a{1001}",
    "a*",
    "^",
    "\\b",
    "a|",
    "(?:a{100}){100}",
    "((((a{0}){1000}){1000}){1000}){1000}b",
    "\\x{110000}",
    "(?x)a",
    "[[:nope:]]",
    "x".repeat(1001),
    `${"(".repeat(400)}a${")".repeat(400)}`,
  ])("%p is refused", (pattern) => {
    expect(patternFault(pattern)).toBeString();
  });
});
