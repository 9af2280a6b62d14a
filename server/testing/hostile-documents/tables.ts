import { docxBody, relationships, sheetXml, zipOf } from "../documents.ts";
import { type HostileDocument, hostile, utf8 } from "./hostile-document.ts";
import { documentOf, paragraph, singleCell, workbookOf } from "./office-parts.ts";

export const tables: HostileDocument[] = [
  hostile("csv", "a million columns", () => utf8(`${"a,".repeat(1_000_000)}b\n${"1,".repeat(1_000_000)}2`), "text"),
  hostile("csv", "a quote without an end", () => utf8(`a,b\n"${"x,\n".repeat(300_000)}`), "text"),
  hostile("csv", "a million quotes", () => utf8('"'.repeat(1_000_001)), "text", "document_empty"),
  hostile(
    "xlsx",
    "a billion rows claimed",
    () =>
      workbookOf(
        sheetXml(`<row r="1000000000"><c r="XFD1000000000"><v>1</v></c></row>`, `<dimension ref="A1:XFD1000000000"/>`),
      ),
    "text",
  ),
  hostile(
    "xlsx",
    "a million columns",
    () => workbookOf(sheetXml(`<row r="1">${"<c><v>1</v></c>".repeat(1_000_000)}</row>`)),
    "text",
  ),
  hostile(
    "xlsx",
    "100,000 merged cells over all columns",
    () =>
      workbookOf(
        `<worksheet><sheetData>${singleCell(0).repeat(100)}</sheetData>${`<mergeCell ref="A1:XFD1048576"/>`.repeat(100_000)}</worksheet>`,
      ),
    "text",
  ),
  hostile(
    "docx",
    "itself in itself, many times over",
    () => {
      const within = (content: Uint8Array) =>
        zipOf({
          "word/document.xml": docxBody(`${paragraph("x")}${'<w:altChunk r:id="a"/>'.repeat(50)}`),
          "word/_rels/document.xml.rels": relationships([["a", "aFChunk", "a.docx"]]),
          "word/a.docx": content,
        });
      return within(within(within(within(documentOf(paragraph("y"))))));
    },
    "text",
  ),
  hostile(
    "xlsx",
    "each row a single cell at the far right",
    () => workbookOf(sheetXml(`<row><c r="XFD1"><v>1</v></c></row>`.repeat(3000))),
    "text",
  ),
  hostile(
    "xlsx",
    "each row a single cell in a column of its own",
    () => workbookOf(sheetXml(Array.from({ length: 15_000 }, (_, at) => singleCell(at)).join(""))),
    "document_too_large",
    "document_out_of_memory",
  ),
  hostile(
    "xlsx",
    "strings that are not there",
    () => workbookOf(sheetXml(`<row><c t="s"><v>99999999</v></c><c t="s"><v>__proto__</v></c><c><v>1</v></c></row>`)),
    "text",
  ),
  hostile(
    "pptx",
    "100,000 slides that are one",
    () =>
      zipOf({
        "ppt/presentation.xml": `<p xmlns:r="r">${`<sldId r:id="rId1"/>`.repeat(100_000)}</p>`,
        "ppt/_rels/presentation.xml.rels": relationships([["rId1", "slide", "slide.xml"]]),
        "ppt/slide.xml": "<a/>",
      }),
    "document_too_large",
  ),
];
