import { expect, test } from "bun:test";
import { inProject } from "../root.ts";
import { compare } from "./compare.ts";
import { type ExplainedLoss, explainedLosses, lowered } from "./explained-losses.ts";
import { formatOfName } from "./formats.ts";
import { type FileOutcome, faultsOf, rowsOf } from "./outcome.ts";
import { packages } from "./packages.ts";
import { qualityPage, withTable } from "./page.ts";
import { nameOf } from "./unpack.ts";

function outcome(name: string, reference: string | null, text: string, refused: string | null = null): FileOutcome {
  const format = formatOfName(name)!;
  const file = { name, path: name, format, digest: name, bytes: 1 };
  const reading = { text, pages: null, ms: 1, refused, message: "", warnings: [] };
  return { file, reading, comparison: reference === null ? null : compare(reference, text) };
}

const faults = (outcomes: readonly FileOutcome[]) => faultsOf(outcomes, rowsOf(outcomes));

test("a word that is missing in an Office file is a fault, and 1 ‰ of the words in PDF is not", () => {
  expect(faults([outcome("a.docx", "one two", "one")])).toEqual(["docx: 1 of 2 words are missing unexplained"]);
  const words = Array.from({ length: 1000 }, (_, at) => `word${at}`);
  expect(faults([outcome("a.pdf", words.join(" "), words.slice(1).join(" "))])).toEqual([]);
  expect(faults([outcome("a.pdf", words.join(" "), words.slice(2).join(" "))])).toHaveLength(1);
});

test("a crash and a file over its time are faults, and a refused file is none without a reference", () => {
  const crash = outcome("a.csv", null, "", "sandbox_failed");
  const late = outcome("b.csv", null, "", "document_timeout");
  expect(faults([crash, late, outcome("c.csv", null, "", "document_encrypted")])).toHaveLength(2);
});

test("an explained loss allows as many words as it names", () => {
  const [name, words] = Object.entries(explainedLosses[0]!.files)[0]!;
  const reference = Array.from({ length: words + 1 }, (_, at) => `word${at}`).join(" ");
  expect(rowsOf([outcome(name, reference, "")])[0]).toMatchObject({ missing: words + 1, unexplained: 1 });
});

test("recording lowers an explained loss, and removes one that is no more", () => {
  const losses: ExplainedLoss[] = [
    { kind: "a", reason: "A.", files: { "1.pdf": 5, "2.pdf": 5 } },
    { kind: "b", reason: "B.", files: { "3.pdf": 1 } },
  ];
  const now = new Map([
    ["1.pdf", 2],
    ["3.pdf", 0],
  ]);
  expect(lowered(losses, now)).toEqual([{ kind: "a", reason: "A.", files: { "1.pdf": 2, "2.pdf": 5 } }]);
});

test("each explained loss is of a package of the corpus, each file has one kind, and the page names every kind", async () => {
  const names = explainedLosses.flatMap(({ files }) => Object.keys(files));
  expect(new Set(names).size).toBe(names.length);
  const folders = new Set(packages.map(nameOf));
  expect(names.filter((name) => !folders.has(name.split("/")[0]!))).toEqual([]);
  const page = await Bun.file(inProject("server/docs/explain/reading-quality.md")).text();
  expect(explainedLosses.filter(({ kind, reason }) => !page.includes(`| ${kind} |`) || !page.includes(reason))).toEqual(
    [],
  );
});

test("recording replaces the recorded part of the page, and nothing else", () => {
  const recorded = qualityPage(rowsOf([outcome("a.docx", "one two", "one")]), [], ["pdftotext 1"], new Date(0));
  expect(recorded).toStartWith("Measured on 1 January 1970 with 1 files.");
  expect(recorded).toContain("| docx, docm, dotx | 1 | 1 | 1 | 2 | 1 | 500.00 | python-docx |");
  const page = "Before.\n\n<!-- recorded -->\nold\n<!-- end of recorded -->\n\nAfter.\n";
  const once = withTable(page, recorded);
  expect(once).toBe(`Before.\n\n<!-- recorded -->\n\n${recorded}\n<!-- end of recorded -->\n\nAfter.\n`);
  expect(withTable(once, recorded)).toBe(once);
});
