import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import type { Chunking } from "../../domain/chunking.ts";
import words from "../../testing/sample-documents/words.json";
import { chunkSections } from "./chunking.ts";
import { estimateTokens } from "./estimate-tokens.ts";
import { typeOfFile } from "./file-type.ts";
import { parse } from "./parse.ts";

// Documents made by other programs; make.py beside them documents how.

const chunking: Chunking = { max_chunk_size_tokens: 300, chunk_overlap_tokens: 50 };

async function read(name: string): Promise<string[]> {
  const bytes = new Uint8Array(readFileSync(new URL(`../../testing/sample-documents/${name}`, import.meta.url)));
  const { sections } = await parse(bytes, typeOfFile(name, bytes.subarray(0, 4096)));
  return [...chunkSections(sections, chunking, estimateTokens)].map(({ text, heading }) => `${heading ?? ""}\n${text}`);
}

test.each(Object.entries(words))("no word of %s is lost", async (name, expected) => {
  const text = (await read(name)).join("\n").normalize("NFKC");
  const found = new Set(text.split(/\s+/));
  const solid = text.replace(/\s/g, "");
  // Chinese has no spaces, so a line may end anywhere.
  const isThere = (word: string) =>
    found.has(word) || (/[\u3000-\uffef]/.test(word) && solid.includes(word.normalize("NFKC")));
  expect(expected.filter((word) => !isThere(word))).toEqual([]);
});

test.each(["libreoffice-columns.pdf", "tex-columns.pdf", "groff-columns.pdf"])(
  "the columns of %s are read one after the other",
  async (name) => {
    const text = (await read(name)).join("\n").replace(/\s+/g, " ");
    expect(text).toContain(
      "winter and wrote every name into a ledger bound in green leather. Storms came from the north",
    );
    expect(text).toContain("low water and carry them home in buckets. The lighthouse keeper counted ships");
    expect(text).not.toContain("|");
  },
);

test.each([
  "libreoffice-account.pdf",
  "reportlab-account.pdf",
  "groff-account.pdf",
  "libreoffice-sheet.pdf",
  "tex-account.pdf",
])("the rows of %s are rows of a table, and each chunk of it begins with the header", async (name) => {
  const chunks = await read(name);
  expect(chunks.join("\n")).toContain("| 2026-10-08 | Hardware 107 | 260.17 | 4909.27 |");
  const rows = chunks.filter((chunk) => /^\| 2026/m.test(chunk));
  expect(rows.length).toBeGreaterThan(1);
  for (const chunk of rows) expect(chunk).toMatch(/\| Date \| Shop \| Amount \|(?: {2}\|)? Balance \|\n\| --- \|/);
});

test("lists keep their numbers in every format that has them", async () => {
  for (const ending of ["pdf", "odt", "rtf"])
    expect((await read(`libreoffice-contract.${ending}`)).join("\n")).toMatch(/(^|\s)4\.\s*second duty/);
});
