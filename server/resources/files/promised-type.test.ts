import { expect, test } from "bun:test";
import { withTypeMismatch } from "./promised-type.ts";

const report = { characters: 1, encoding: null, warnings: [] };
const messages = (filename: string, type: string) =>
  withTypeMismatch(report, filename, type).warnings.map(({ code, message }) => `${code}: ${message}`);

test("a file whose name promises another kind of document has a warning that says what it is", () => {
  expect(messages("report.DOC", "application/rtf")).toEqual([
    "type_mismatch: The name ends in .doc, but by its content the file is rich text (RTF). It was read as that.",
  ]);
  expect(messages("list.xls", "text/tab-separated-values")).toHaveLength(1);
  expect(messages("page.doc", "multipart/related")[0]).toContain("a web archive (MIME)");
  expect(messages("rows.xls", "application/xml")[0]).toContain("an XML file");
  expect(messages("scan.pdf", "image/png")).toHaveLength(1);
  expect(messages("notes.txt", "text/html")).toHaveLength(1);
});

test("a file of the kind that its name promises, or whose name promises none, has no such warning", () => {
  const docx = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
  for (const [name, type] of [
    ["a.doc", docx],
    ["a.xls", "application/vnd.ms-spreadsheetml"],
    ["a.docm", "application/vnd.ms-word.document.macroEnabled.12"],
    ["a.csv", "text/plain"],
    ["a.txt", "text/csv"],
    ["a.png", "image/jpeg"],
    ["a.xml", "application/vnd.ms-wordml"],
    ["a.odt", "application/vnd.oasis.opendocument.text-flat-xml"],
    ["a", docx],
    ["a.constructor", docx],
  ] as const)
    expect([name, messages(name, type)]).toEqual([name, []]);
});
