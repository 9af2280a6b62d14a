import type { ExplainedLoss } from "./explained-losses.ts";
import type { Format } from "./formats.ts";
import type { Row } from "./outcome.ts";
import { perMille } from "./report.ts";

const names: Record<Format, string> = {
  pdf: "pdf",
  docx: "docx, docm, dotx",
  xlsx: "xlsx, xlsm, xltx",
  pptx: "pptx, pptm, ppsx, potx",
  odf: "odt, ods, odp",
  rtf: "rtf",
  mail: "eml",
  msg: "msg",
  html: "html",
  epub: "epub",
  csv: "csv, tsv",
  text: "txt, xml in many encodings",
  old: "doc, xls, ppt",
};

const references: Record<Format, string> = {
  pdf: "pdftotext",
  docx: "python-docx",
  xlsx: "openpyxl",
  pptx: "python-pptx",
  odf: "Python's XML parser",
  rtf: "LibreOffice",
  mail: "Python's `email`",
  msg: "extract-msg",
  html: "BeautifulSoup",
  epub: "BeautifulSoup",
  csv: "Python's codecs",
  text: "Python's codecs",
  old: "none",
};

const [start, end] = ["<!-- recorded -->", "<!-- end of recorded -->"];

/** Replaces the recorded part of the page. */
export function withTable(page: string, recorded: string): string {
  const [before, rest = ""] = page.split(start);
  return `${before}${start}\n\n${recorded}\n${end}${rest.split(end)[1] ?? ""}`;
}

/** Returns the recorded part of the page: the table, its date and references, and each kind of loss. */
export function qualityPage(
  rows: readonly Row[],
  losses: readonly ExplainedLoss[],
  versions: readonly string[],
  date: Date,
): string {
  const day = date.toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" });
  const count = (value: number) => value.toLocaleString("en-US");
  const files = rows.reduce((sum, row) => sum + row.files, 0);
  const lines = rows.map((row) => {
    const { format, read, compared, words, missing } = row;
    const cells = [row.files, read, compared, words, missing].map(count);
    return `| ${[names[format], ...cells, perMille(row), references[format]].join(" | ")} |`;
  });
  const kinds = losses.map(({ kind, reason, files: those }) => {
    const lost = Object.values(those).reduce((sum, words) => sum + words, 0);
    return `| ${kind} | ${count(Object.keys(those).length)} | ${count(lost)} | ${reason} |`;
  });
  return `Measured on ${day} with ${count(files)} files.

| Format | Files | Read | Compared | Words | Missing | ‰ | Compared with |
|---|---|---|---|---|---|---|---|
${lines.join("\n")}

References: ${versions.join(", ")}.

## Kinds of loss

| Kind | Files | Words, at most | Why |
|---|---|---|---|
${kinds.join("\n")}
`;
}
