import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { type Chunking, chunkingFault } from "../../domain/chunking.ts";
import { chunkSections } from "./chunking.ts";
import { loadTokenCounter } from "./count-tokens.ts";
import { outlineMarkdown } from "./markdown.ts";
import { openOutline, type Section } from "./outline.ts";

const count = loadTokenCounter();
const sizes = (max_chunk_size_tokens: number, chunk_overlap_tokens = 0): Chunking => ({
  max_chunk_size_tokens,
  chunk_overlap_tokens,
});
const section = (text: string, more: Partial<Section> = {}): Section => ({ text, page: null, heading: null, ...more });
const cut = (text: string, chunking: Chunking) => [...chunkSections([section(text)], chunking, count)];
const solid = (text: string) => text.replace(/\s/g, "");
const sectionsOf = (markdown: string) => {
  const outline = openOutline();
  outlineMarkdown(markdown, outline);
  return outline.close();
};

const word = fc.oneof(
  fc.string({ minLength: 1, maxLength: 12 }),
  fc.string({ minLength: 1, maxLength: 12, unit: "grapheme" }),
  fc.constantFrom(
    "word",
    "sentence.",
    "漢字仮名。",
    "שלום",
    "مرحبا؟",
    "😀😀",
    "a".repeat(900),
    "```",
    "👩‍👩‍👧".repeat(80),
    "-",
  ),
);
const prose = fc
  .array(fc.tuple(word, fc.constantFrom(" ", " ", " ", "\n", "\n\n", "")), { maxLength: 200 })
  .map((pairs) => pairs.flat().join("").replaceAll("|", "/").toWellFormed());

describe("chunks", () => {
  test("contain all of the text in order, and none exceeds the limit", () => {
    fc.assert(
      fc.property(prose, fc.integer({ min: 50, max: 200 }), (text, max) => {
        const chunks = cut(text, sizes(max));
        expect(solid(chunks.map((chunk) => chunk.text).join(""))).toBe(solid(text));
        for (const chunk of chunks) {
          expect(chunk.tokens).toBe(count(chunk.text));
          expect(chunk.tokens).toBeLessThanOrEqual(max);
          expect(chunk.text.isWellFormed()).toBe(true);
          expect(chunk.text.trim()).not.toBe("");
        }
      }),
      { numRuns: 150 },
    );
  });

  test("with an overlap are pieces of the text in order, without gaps, within the limit", () => {
    fc.assert(
      fc.property(prose, fc.integer({ min: 50, max: 200 }), fc.integer({ min: 1, max: 24 }), (text, max, overlap) => {
        let end = 0;
        for (const { text: piece, tokens } of cut(text, sizes(max, overlap))) {
          expect(tokens).toBeLessThanOrEqual(max);
          const whole = solid(text);
          // A chunk begins at or before the end of the previous one, never after it.
          const known = solid(piece);
          let start = end;
          while (start >= 0 && !whole.startsWith(known, start)) start--;
          expect(start).toBeGreaterThanOrEqual(0);
          expect(start + known.length).toBeGreaterThan(0);
          end = Math.max(end, start + known.length);
        }
        expect(end).toBe(solid(text).length);
      }),
      { numRuns: 100 },
    );
  });

  const sentence = (at: number) => `This is sentence number ${at} of the text, and it goes on for some words.`;
  const sentences = Array.from({ length: 40 }, (_, at) => sentence(at)).join(" ");

  test("end with a sentence if sentences fit, and begin with the last one of the previous chunk", () => {
    const chunks = cut(sentences, sizes(100, 30));
    expect(chunks.length).toBeGreaterThan(5);
    for (const [at, { text }] of chunks.entries()) {
      expect(text).toEndWith("words.");
      expect(text).toStartWith("This is sentence");
      const before = chunks[at - 1]?.text;
      if (before) expect(before).toEndWith(/^.*?words\./.exec(text)?.[0] ?? "none");
    }
  });

  test("end with a paragraph if one fits", () => {
    const paragraphs = Array.from({ length: 10 }, (_, at) => `${sentence(at)} ${sentence(at)}`);
    for (const { text } of cut(paragraphs.join("\n\n"), sizes(100))) {
      for (const paragraph of text.split("\n\n")) expect(paragraphs).toContain(paragraph);
    }
  });

  test("never cross a heading or a page, and know both", () => {
    const sections = sectionsOf("# Guide\n\n## Install\n\nDo this.\n\n### On Linux\n\nDo that.\n\n## Use\n\nRun it.");
    expect([...chunkSections(sections, sizes(800), count)].map(({ text, heading }) => [heading, text])).toEqual([
      ["Guide › Install", "# Guide\n\n## Install\n\nDo this."],
      ["Guide › Install › On Linux", "### On Linux\n\nDo that."],
      ["Guide › Use", "## Use\n\nRun it."],
    ]);
    const pages = [
      section("one", { page: 1 }),
      section("# two", { page: 2, heading: "two" }),
      section("x", { page: 3 }),
    ];
    expect([...chunkSections(pages, sizes(800), count)].map(({ page }) => page)).toEqual([1, 2, 3]);
  });

  test("repeat the header of a table over several chunks, and split no row that fits", () => {
    const rows = Array.from({ length: 60 }, (_, at) => `| Name ${at} | ${at} |`);
    const table = ["| name | number |", "| --- | --- |", ...rows].join("\n");
    const chunks = cut(`Before.\n\n${table}\n\nAfter.`, sizes(100, 20));
    const tables = chunks.filter(({ text }) => text.startsWith("| name"));
    expect(tables.length).toBeGreaterThan(5);
    const seen = tables.flatMap(({ text }) => text.split("\n").filter((line) => /^\| Name \d+ \| \d+ \|$/.test(line)));
    expect(seen).toEqual(rows);
  });

  test("keep a table or a code block whole if it fits", () => {
    const code = `\`\`\`js\n${Array.from({ length: 12 }, (_, at) => `let a${at} = ${at};`).join("\n\n")}\n\`\`\``;
    const table = "| a | b |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |";
    const chunks = cut(`${sentences.slice(0, 300)}\n\n${code}\n\n${sentences.slice(0, 300)}\n\n${table}`, sizes(130));
    expect(chunks.some(({ text }) => text.includes(code))).toBe(true);
    expect(chunks.some(({ text }) => text.includes(table))).toBe(true);
  });
});

test("tokens are those of o200k_base", () => {
  const plain = { disallowedSpecial: new Set<string>() };
  for (const text of ["hello world", "漢字かな交じり文", "\ufffd", "<|endoftext|>", "שלום 😀 عالم", "    \n\n\tx"]) {
    expect(count(text)).toBe(countTokens(text, plain));
  }
  const words = fc.constantFrom(..."the Überraschung getUserById 00417 naïve 漢字 😀 שלום \n\n --- the's".split(" "));
  const texts = fc.array(
    fc.oneof(words, fc.string({ unit: "binary", maxLength: 12 }), fc.constantFrom(" ", "  ", "\n")),
  );
  fc.assert(
    fc.property(texts, (parts) => {
      const text = parts.join("");
      expect(count(text)).toBe(countTokens(text, plain));
    }),
    { numRuns: 1000 },
  );
});

test.each([
  [sizes(100, 49), null],
  [sizes(4096, 0), null],
  [sizes(99), "max_chunk_size_tokens"],
  [sizes(4097), "max_chunk_size_tokens"],
  [sizes(100.5), "max_chunk_size_tokens"],
  [sizes(100, 50), "chunk_overlap_tokens"],
  [sizes(100, -1), "chunk_overlap_tokens"],
] as const)("sizes %j are refused for %p", (chunking, param) => {
  expect(chunkingFault(chunking)?.param ?? null).toBe(param);
});
