import { readFileSync } from "node:fs";
import { constants, crc32, deflateRawSync, deflateSync } from "node:zlib";
import { zipSync } from "fflate";
import type { DocumentFault } from "../runtime/sandbox/document-reader.ts";
import {
  columnName,
  docxBody,
  docxOf,
  epubOf,
  odfOf,
  officeParts,
  pdfFrom,
  pdfOf,
  pptxOf,
  relationships,
  sheetXml,
  streamOf,
  xlsxOf,
  zipOf,
} from "./documents.ts";
import { type Folder, messageOf, propertiesOf } from "./outlook-message.ts";
import { tnefOf } from "./tnef-file.ts";

/** Returns a mail of some text with files of this name attached. */
export function mailWith(files: readonly Uint8Array[], name: string): Uint8Array {
  const parts = files.map(
    (content) =>
      `--b\nContent-Disposition: attachment; filename="${name}"\nContent-Transfer-Encoding: base64\n\n${Buffer.from(content).toString("base64")}\n`,
  );
  return utf8(`Subject: x\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nSome text.\n${parts.join("")}--b--\n`);
}

const packedFiles = (depth: number): Uint8Array =>
  depth === 0 ? tnefOf({ plain: "innermost" }) : tnefOf({ files: { "winmail.dat": packedFiles(depth - 1) } });

/** Document made to harm its reader, and the accepted results: faults, or "text". */
export interface HostileDocument {
  name: string;
  mime_type: string;
  content: () => Uint8Array;
  expected: readonly (DocumentFault | "text")[];
  /** The document takes so much memory or time that only a child process may read it, in tests too. */
  heavy: boolean;
}

export const mimeTypes = {
  txt: "text/plain",
  md: "text/markdown",
  html: "text/html",
  json: "application/json",
  jsonl: "application/jsonl",
  csv: "text/csv",
  pdf: "application/pdf",
  docx: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  pptx: "application/vnd.openxmlformats-officedocument.presentationml.presentation",
  odt: "application/vnd.oasis.opendocument.text",
  epub: "application/epub+zip",
  rtf: "application/rtf",
  eml: "message/rfc822",
  msg: "application/vnd.ms-outlook",
} as const;
type Kind = keyof typeof mimeTypes;

const utf8 = (text: string) => new TextEncoder().encode(text);
const megabyte = 2 ** 20;

/** A small valid document of each kind. */
export const validDocuments: Record<Kind, Uint8Array> = {
  txt: utf8("One line.\n\nAnother one, of some words."),
  md: utf8("# Title\n\nText.\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\n```\ncode\n```\n"),
  html: utf8("<!doctype html><title>T</title><h1>A</h1><p>Text <b>bold</b>.</p><table><tr><td>1<td>2</table>"),
  json: utf8('{"a":[1,2,{"b":"text"}],"c":"more"}'),
  jsonl: utf8('{"a":1}\n{"a":2}\n'),
  csv: utf8('name,age\n"Ann, the first",3\nBob,4\n'),
  pdf: pdfOf(["# Title\nSome text on a page.", "And on another."]),
  docx: docxOf([{ heading: "Title", text: "Some text." }, { rows: [["a", "b"]] }]),
  xlsx: xlsxOf([
    {
      name: "Sheet",
      rows: [
        ["a", "b"],
        [1, true],
      ],
    },
  ]),
  pptx: pptxOf([{ title: "Title", text: "Text", notes: "Notes" }]),
  odt: odfOf("<text:h text:outline-level='1'>Title</text:h><text:p>Some text.</text:p>"),
  epub: epubOf(["<h1>One</h1><p>Text.</p>", "<p>More.</p>"]),
  rtf: utf8("{\\rtf1\\ansi\\uc1 Some {\\b text}\\par More \\u8364 ?\\par}"),
  eml: utf8("From: a@x.test\r\nSubject: Title\r\n\r\nSome text.\r\n"),
  msg: messageOf({ "0037": "Title", "1000": "Some text." }),
};

const binary = ["pdf", "docx", "xlsx", "pptx", "odt", "epub"] as const;
const kinds = Object.keys(mimeTypes) as Kind[];

/** A message with a part in large sectors. */
const letter = () => messageOf({ "0037": "Title", "1000": "word ".repeat(5000) }, attached(3));

/** Returns the message with another number in its header. */
function withHeader(at: number, value: number): Uint8Array {
  const bytes = letter();
  new DataView(bytes.buffer).setUint32(at, value, true);
  return bytes;
}

/** Returns the message with another chain of sectors. Its table is the last sector. */
function circling(next: (sector: number) => number): Uint8Array {
  const bytes = letter();
  const view = new DataView(bytes.buffer);
  for (let sector = 0; sector < 127; sector++) view.setUint32(bytes.length - 512 + 4 * sector, next(sector), true);
  return bytes;
}

/** Returns the message with another number in each directory entry but the first. */
function entriesWith(at: number, value: number): Uint8Array {
  const bytes = letter();
  const view = new DataView(bytes.buffer);
  const directory = 512 * (view.getUint32(48, true) + 1);
  for (let entry = directory + 128; view.getUint16(entry + 64, true) > 0; entry += 128)
    view.setUint32(entry + at, value, true);
  return bytes;
}

const attached = (count: number) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => [
      `__attach_version1.0_#${String(index).padStart(8, "0")}`,
      propertiesOf({ "3707": `${index}.txt` }, 8),
    ]),
  );

const nested = (depth: number): Folder =>
  depth === 0
    ? {}
    : {
        "__attach_version1.0_#00000000": propertiesOf({}, 8, {
          "__substg1.0_3701000D": propertiesOf({ "0037": "x" }, 24, nested(depth - 1)),
        }),
      };

const documentOf = (body: string, before = "") =>
  zipOf({
    ...officeParts("word/document.xml", { "word/document.xml": "wordprocessingml.document.main" }),
    "word/document.xml": docxBody(body, before),
  });
const paragraph = (text: string) => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`;

const workbookOf = (sheet: string, more: Record<string, string | Uint8Array> = {}) =>
  zipOf({
    ...officeParts("xl/workbook.xml", { "xl/workbook.xml": "spreadsheetml.sheet.main" }),
    "xl/workbook.xml": `<workbook xmlns:r="r"><sheets><sheet name="S" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": relationships([
      ["rId1", "worksheet", "worksheets/sheet1.xml"],
      ["rId2", "sharedStrings", "sharedStrings.xml"],
    ]),
    "xl/worksheets/sheet1.xml": sheet,
    ...more,
  });

const singleCell = (column: number) => `<row><c r="${columnName(column)}1"><v>1</v></c></row>`;

/** Returns a part of 210 MB of spaces, which compresses to a thousandth: one compressed piece is repeated. */
function largePart(name: string): Uint8Array {
  const piece = deflateRawSync(new Uint8Array(10 * megabyte).fill(32), { finishFlush: constants.Z_FULL_FLUSH });
  const packed = Buffer.concat([...Array<Buffer>(21).fill(piece), deflateRawSync("")]);
  const archive = zipSync({ [name]: [packed, { level: 0 }] });
  return lying(lying(archive, 10, 8, 2), 24, 210 * megabyte);
}

/** Returns the archive with another value in this field of each directory entry. */
function lying(zip: Uint8Array, field: number, value: number, bytes: 2 | 4 = 4): Uint8Array {
  const view = new DataView(zip.buffer, zip.byteOffset, zip.byteLength);
  for (let at = 0; at < zip.length - 46; at++) {
    if (view.getUint32(at, true) !== 0x02014b50) continue;
    if (bytes === 4) view.setUint32(at + field, value, true);
    else view.setUint16(at + field, value, true);
  }
  return zip;
}

const entities = (name: string, system = "") => {
  const bombs = Array.from({ length: 10 }, (_, at) => `<!ENTITY e${at + 1} "${`&e${at};`.repeat(10)}">`);
  return `<!DOCTYPE ${name} [<!ENTITY e0 "lol">${bombs.join("")}<!ENTITY file SYSTEM "${system || "file:///etc/passwd"}">]>`;
};

const page = (contents: string, more = "") =>
  `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 100 100] /Contents ${contents} ${more}>>`;
const catalogue = "<< /Type /Catalog /Pages 2 0 R >>";
const onePage = "<< /Type /Pages /Count 1 /Kids [3 0 R] >>";
const flate = (content: string, times = 1) => {
  let bytes: Uint8Array = Buffer.from(content, "latin1");
  for (let left = times; left > 0; left--) bytes = deflateZlib(bytes);
  const filters = times === 1 ? "/FlateDecode" : `[${"/FlateDecode ".repeat(times)}]`;
  return streamOf(Buffer.from(bytes).toString("latin1"), `/Filter ${filters} `);
};
/** Adds the two-byte header that PDF requires; readers ignore the checksum at the end. */
const deflateZlib = (bytes: Uint8Array) =>
  Buffer.concat([Buffer.of(0x78, 0x9c), deflateRawSync(bytes), Buffer.alloc(4)]);

const heavyNames = new Set([
  "a part that unpacks to 210 MB",
  "one that says it unpacks to 1 byte",
  "100 MB of one line",
  "a million attributes",
  "each row a single cell in a column of its own",
  "a page of 800 MB",
  "a page packed three times",
  "a form that shows itself",
]);

const hostile = (kind: Kind, name: string, content: () => Uint8Array, ...expected: HostileDocument["expected"]) => ({
  name: `${kind}: ${name}`,
  mime_type: mimeTypes[kind],
  content,
  expected,
  heavy: heavyNames.has(name),
});

/** Returns deterministic bytes without a pattern. */
export function noise(length: number, seed = 1): Uint8Array<ArrayBuffer> {
  let state = seed;
  return new Uint8Array(length).map(() => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state >>> 24;
  });
}

const archives: HostileDocument[] = [
  hostile("docx", "a part that unpacks to 210 MB", () => largePart("word/document.xml"), "document_too_large"),
  hostile(
    "docx",
    "one that says it unpacks to 1 byte",
    () => lying(largePart("word/document.xml"), 24, 1),
    "document_too_large",
  ),
  hostile(
    "docx",
    "one that says it unpacks to 4 GB",
    () => lying(documentOf(paragraph("x")), 24, 0xfffffff0),
    "document_too_large",
  ),
  hostile(
    "docx",
    "parts far out of the archive",
    () => lying(documentOf(paragraph("x")), 42, 0x7fffffff),
    "document_unreadable",
  ),
  hostile("docx", "encrypted entries", () => lying(documentOf(paragraph("x")), 8, 1, 2), "document_encrypted"),
  hostile(
    "docx",
    "a packing that nobody knows",
    () => lying(documentOf(paragraph("x")), 10, 99, 2),
    "document_unreadable",
  ),
  hostile(
    "docx",
    "20,001 entries",
    () => zipOf(Object.fromEntries(Array.from({ length: 20_001 }, (_, at) => [`f${at}`, ""]))),
    "document_too_large",
  ),
  hostile(
    "docx",
    "an archive in an archive in an archive",
    () => zipOf({ "word/document.xml": zipOf({ "word/document.xml": zipOf({ a: "b" }) }) }),
    "document_unreadable",
  ),
  hostile(
    "docx",
    "names that are paths",
    () => zipOf({ "../../etc/passwd": "x", "/etc/passwd": "y", "word/document.xml": docxBody(paragraph("x")) }),
    "text",
  ),
  hostile(
    "docx",
    "a relationship out of the archive",
    () =>
      zipOf({
        "word/document.xml": docxBody(paragraph("x")),
        "word/_rels/document.xml.rels": relationships([["r", "styles", "../../../../etc/passwd"]]),
      }),
    "text",
  ),
  hostile("docx", "no document in it", () => zipOf({ mimetype: "x" }), "document_unreadable"),
];

const markup: HostileDocument[] = [
  hostile("md", "a heading that is mostly space", () => utf8(`# a${" ".repeat(megabyte)}b`), "text"),
  hostile("md", "headings in a heading", () => utf8(`${"# ".repeat(200)}a\n\n# b`), "text"),
  hostile("txt", "a megabyte of space", () => utf8(`a${" ".repeat(megabyte)}b${" ".repeat(megabyte)}`), "text"),
  hostile("csv", "a cell that is mostly space", () => utf8(`a,b\n1${" ".repeat(megabyte)}2,3`), "text"),
  hostile("txt", "words of 399 letters", () => utf8(`${"漢".repeat(399)} `.repeat(2000)), "text"),
  hostile("html", "a megabyte of images without an end", () => utf8("![".repeat(megabyte / 2)), "text"),
  hostile("docx", "a billion laughs", () => documentOf(paragraph("&e9;"), entities("document")), "document_unreadable"),
  hostile(
    "docx",
    "an entity of a file",
    () => documentOf(paragraph("&file;"), entities("document")),
    "document_unreadable",
  ),
  hostile(
    "docx",
    "a document type from elsewhere",
    () => documentOf(paragraph("x"), `<!DOCTYPE a SYSTEM "http://127.0.0.1:9/a.dtd">`),
    "document_unreadable",
  ),
  hostile(
    "xlsx",
    "a billion laughs",
    () => workbookOf(`${entities("worksheet")}<worksheet>&e9;</worksheet>`),
    "document_unreadable",
  ),
  hostile(
    "pptx",
    "a billion laughs",
    () => zipOf({ "ppt/presentation.xml": `${entities("p")}<p>&e9;</p>` }),
    "document_unreadable",
  ),
  hostile(
    "docx",
    "a million elements in one another",
    () => documentOf("<w:p>".repeat(1_000_000)),
    "document_unreadable",
  ),
  hostile(
    "docx",
    "100,000 pages",
    () => documentOf(`<w:p><w:r>${"<w:lastRenderedPageBreak/>".repeat(100_000)}<w:t>x</w:t></w:r></w:p>`),
    "document_too_large",
  ),
  hostile(
    "docx",
    "a cell over a billion columns",
    () =>
      documentOf(
        `<w:tbl><w:tr>${`<w:tc><w:tcPr><w:gridSpan w:val="1000000000"/></w:tcPr>${paragraph("x")}</w:tc>`.repeat(100)}</w:tr></w:tbl>`,
      ),
    "text",
  ),
  hostile("docx", "a tag without an end", () => documentOf(`<w:p a="${"x".repeat(megabyte)}`), "document_unreadable"),
  hostile(
    "docx",
    "a million attributes",
    () => documentOf(`<w:p ${Array.from({ length: 1_000_000 }, (_, at) => `a${at}="b"`).join(" ")}/>${paragraph("x")}`),
    "text",
  ),
  hostile(
    "docx",
    "a million times the same attribute",
    () => documentOf(`<w:p ${'a="b" '.repeat(1_000_000)}/>${paragraph("x")}`),
    "document_unreadable",
  ),
  hostile(
    "docx",
    "elements named like parts of every object",
    () => documentOf(`<w:constructor/><w:__proto__/><w:toString/>${paragraph("x")}`),
    "text",
  ),
  hostile(
    "html",
    "200,000 elements in one another",
    () => utf8(`${"<div>".repeat(200_000)}text`),
    "text",
    "document_unreadable",
  ),
  hostile(
    "html",
    "20,000 lists in one another",
    () => utf8(`${"<ul><li>".repeat(20_000)}text`),
    "text",
    "document_unreadable",
  ),
  hostile("html", "a million signs that open a tag", () => utf8("<".repeat(megabyte)), "text", "document_empty"),
  hostile(
    "html",
    "a drawing with entities in it",
    () => utf8(`${entities("svg")}<svg><text>&e9;</text></svg><p>text</p>`),
    "text",
  ),
  hostile("html", "only script and style", () => utf8("<script>alert(1)</script><style>a{}</style>"), "document_empty"),
  hostile(
    "json",
    "100,000 lists in one another",
    () => utf8("[".repeat(100_000) + "]".repeat(100_000)),
    "document_unreadable",
  ),
  hostile("json", "keys of every object", () => utf8('{"__proto__":{"a":1},"constructor":2}'), "text"),
  hostile("json", "a lot of numbers", () => utf8(`[${"1,".repeat(300_000)}1]`), "text"),
  hostile("md", "a million marks of a quote", () => utf8(`${">".repeat(megabyte)} text`), "text"),
  hostile("md", "a fence that never closes", () => utf8(`\`\`\`\n${"code\n".repeat(100_000)}`), "text"),
  hostile("txt", "19 MB of one line", () => new Uint8Array(19 * megabyte).fill(97), "text"),
  hostile("txt", "100 MB of one line", () => new Uint8Array(100 * megabyte).fill(97), "document_too_large"),
  hostile("txt", "zeros", () => new Uint8Array(megabyte), "document_unreadable"),
  hostile("txt", "a few zeros in text", () => utf8(`text\0${"more text ".repeat(100)}\0`), "text"),
  hostile(
    "txt",
    "half of each character",
    () => new Uint8Array(Buffer.from("😀".repeat(1000), "utf16le").fill(0xd8, 1, 2)),
    "text",
    "document_unreadable",
  ),
];

const tables: HostileDocument[] = [
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

const others: HostileDocument[] = [
  hostile("odt", "a part that unpacks to 210 MB", () => largePart("content.xml"), "document_too_large"),
  hostile(
    "odt",
    "a billion laughs",
    () => zipOf({ "content.xml": `${entities("office:document-content")}<a>&e9;</a>` }),
    "document_unreadable",
  ),
  hostile(
    "odt",
    "a cell a billion times, in a row a billion times",
    () =>
      odfOf(
        `<table:table><table:table-row table:number-rows-repeated="1000000000"><table:table-cell table:number-columns-repeated="1000000000"><text:p>x</text:p></table:table-cell></table:table-row></table:table>`,
      ),
    "text",
  ),
  hostile("odt", "a billion spaces", () => odfOf(`<text:p>a<text:s text:c="1000000000"/>b</text:p>`), "text"),
  hostile(
    "odt",
    "lists in one another",
    () => odfOf("<text:list><text:list-item>".repeat(1000)),
    "document_unreadable",
  ),
  hostile(
    "odt",
    "an object that is the document",
    () => odfOf(`<text:p>x<draw:object xlink:href="./."/><draw:object xlink:href="./../.."/></text:p>`),
    "text",
  ),
  hostile(
    "odt",
    "a megabyte in a cell that is repeated, in a row that is",
    () =>
      odfOf(
        `<table:table><table:table-row table:number-rows-repeated="1000"><table:table-cell table:number-columns-repeated="1000"><text:p>${"w ".repeat(megabyte / 2)}</text:p></table:table-cell></table:table-row></table:table>`,
      ),
    "document_too_large",
  ),
  hostile(
    "odt",
    "an encrypted part",
    () => odfOf("<text:p>x</text:p>", { "META-INF/manifest.xml": "<m><manifest:encryption-data/></m>" }),
    "document_encrypted",
  ),
  hostile("epub", "100,000 chapters that are one", () => epubOf(["<p>x</p>"], 100_000), "document_too_large"),
  hostile("epub", "no chapter", () => epubOf([]), "document_unreadable"),
  hostile(
    "epub",
    "an encrypted chapter",
    () => epubOf(["<p>x</p>"], 1, { "META-INF/encryption.xml": `<a><b URI="c0.xhtml"/></a>` }),
    "document_encrypted",
  ),
  hostile(
    "rtf",
    "a million groups in one another",
    () => utf8(`{\\rtf1${"{".repeat(megabyte)}`),
    "document_unreadable",
  ),
  hostile("rtf", "a million ends of groups", () => utf8(`{\\rtf1 text${"}".repeat(megabyte)}`), "text"),
  hostile("rtf", "a million ends of rows and cells", () => utf8(`{\\rtf1 x${"\\cell\\row".repeat(100_000)}}`), "text"),
  hostile(
    "rtf",
    "numbers without measure",
    () => utf8("{\\rtf1\\uc999999999\\u-999999999 \\f9999999999 text}"),
    "text",
  ),
  hostile("rtf", "half of a character in bytes", () => utf8("{\\rtf1\\ansicpg932 text\\'8a}"), "text"),
  hostile("rtf", "notes in one another", () => utf8(`{\\rtf1 x${"{\\footnote ".repeat(1500)}`), "text"),
  hostile(
    "eml",
    "parts in one another",
    () => utf8(`Subject: x\n${"Content-Type: multipart/mixed; boundary=b\n\n--b\n".repeat(10_000)}`),
    "document_unreadable",
    "text",
  ),
  hostile(
    "eml",
    "100,000 parts",
    () => utf8(`Content-Type: multipart/mixed; boundary=b\n\n${"--b\n\nx\n".repeat(100_000)}`),
    "document_unreadable",
  ),
  hostile(
    "eml",
    "spaces before the end of each line",
    () =>
      utf8(
        `Subject: x\nContent-Transfer-Encoding: quoted-printable\n\n${" ".repeat(megabyte)}=${" ".repeat(megabyte)}x`,
      ),
    "text",
  ),
  hostile("eml", "a header of a megabyte", () => utf8(`Subject: ${"=?utf-8?q?a?= ".repeat(80_000)}\n\nx`), "text"),
  hostile("eml", "encoded words without an end", () => utf8(`Subject: ${"=?utf-8?q?a ".repeat(80_000)}\n\nx`), "text"),
  hostile(
    "eml",
    "a signed message nested a thousand times",
    () =>
      utf8(
        `Subject: x\nContent-Type: application/pkcs7-mime\nContent-Transfer-Encoding: base64\n\n${Buffer.alloc(20_000, "\x30\x80", "latin1").toString("base64")}`,
      ),
    "text",
  ),
  hostile(
    "eml",
    "an attachment that unpacks to 210 MB, a hundred times",
    () => mailWith(Array<Uint8Array>(100).fill(largePart("word/document.xml")), "plan.docx"),
    "text",
  ),
  hostile("eml", "files of Outlook in one another", () => mailWith([packedFiles(50)], "winmail.dat"), "text"),
  hostile("msg", "a sector that is behind itself", () => circling((sector) => sector), "document_unreadable"),
  hostile("msg", "every sector is behind the first", () => circling(() => 1), "document_unreadable"),
  hostile("msg", "sectors that are not there", () => circling(() => 0xfffffff0), "document_unreadable"),
  hostile("msg", "tables that lead to one another", () => withHeader(68, 0), "document_unreadable"),
  hostile("msg", "a directory that is nowhere", () => withHeader(48, 4_000_000_000), "document_unreadable"),
  hostile("msg", "sectors of two gigabytes", () => withHeader(30, 31), "document_unreadable"),
  hostile("msg", "every text is the same one", () => entriesWith(116, 0), "document_unreadable", "text"),
  hostile("msg", "texts of four gigabytes", () => entriesWith(120, 0xffffffff), "document_unreadable", "text"),
  hostile("msg", "folders that hold themselves", () => entriesWith(76, 1), "document_unreadable"),
  hostile("msg", "files beside themselves", () => entriesWith(72, 1), "document_unreadable"),
  hostile("msg", "its end is missing", () => letter().slice(0, -700), "document_unreadable"),
  hostile("msg", "messages in one another", () => messageOf({ "0037": "x" }, nested(200)), "document_unreadable"),
  hostile("msg", "10,000 attachments", () => messageOf({ "0037": "x" }, attached(10_000)), "document_unreadable"),
];

const portable: HostileDocument[] = [
  hostile(
    "pdf",
    "a page tree that is its own branch",
    () => pdfFrom([catalogue, "<< /Type /Pages /Count 1 /Kids [2 0 R] >>"]),
    "document_unreadable",
    "document_empty",
  ),
  hostile(
    "pdf",
    "two branches that hold one another",
    () =>
      pdfFrom([
        catalogue,
        "<< /Type /Pages /Count 2 /Kids [3 0 R] >>",
        "<< /Type /Pages /Count 2 /Parent 2 0 R /Kids [2 0 R] >>",
      ]),
    "document_unreadable",
    "document_empty",
  ),
  hostile(
    "pdf",
    "a billion pages claimed",
    () => pdfFrom([catalogue, "<< /Type /Pages /Count 1000000000 /Kids [3 0 R] >>", page("4 0 R"), streamOf("")]),
    "document_too_large",
    "document_empty",
    "document_unreadable",
  ),
  hostile(
    "pdf",
    "a page of 800 MB",
    () => pdfFrom([catalogue, onePage, page(`[${"4 0 R ".repeat(20)}]`), flate("q Q ".repeat(10 * megabyte))]),
    "document_out_of_memory",
    "document_too_large",
    "document_empty",
    "document_timeout",
  ),
  hostile(
    "pdf",
    "a page packed three times",
    () => pdfFrom([catalogue, onePage, page("4 0 R"), flate("q Q ".repeat(10 * megabyte), 3)]),
    "document_out_of_memory",
    "document_too_large",
    "document_empty",
    "document_unreadable",
    "document_timeout",
  ),
  hostile(
    "pdf",
    "a form that shows itself",
    () =>
      pdfFrom([
        catalogue,
        onePage,
        page("4 0 R", "/Resources << /XObject << /F 5 0 R >> >> "),
        streamOf("/F Do"),
        streamOf(
          "/F Do /F Do",
          "/Type /XObject /Subtype /Form /BBox [0 0 1 1] /Resources << /XObject << /F 5 0 R >> >> ",
        ),
      ]),
    "document_empty",
    "document_unreadable",
    "document_timeout",
  ),
  hostile(
    "pdf",
    "an action in JavaScript",
    () =>
      pdfFrom([
        "<< /Type /Catalog /Pages 2 0 R /OpenAction << /S /JavaScript /JS (while (true) {}) >> >>",
        onePage,
        page("4 0 R"),
        streamOf(""),
      ]),
    "document_empty",
  ),
  hostile(
    "pdf",
    "a stream in objects that is in itself",
    () =>
      pdfFrom([catalogue, onePage, page("4 0 R"), streamOf("4 0 3 10", "/Type /ObjStm /N 2 /First 8 /Extends 4 0 R ")]),
    "document_empty",
    "document_unreadable",
  ),
  hostile(
    "pdf",
    "a table of a billion objects",
    () =>
      utf8(
        "%PDF-1.7\nxref\n0 1000000000\n0000000000 65535 f \ntrailer\n<< /Size 1000000000 /Root 1 0 R >>\nstartxref\n9\n%%EOF",
      ),
    "document_unreadable",
    "document_empty",
  ),
  hostile(
    "pdf",
    "a table that goes on before itself",
    () => utf8("%PDF-1.7\nxref\n0 0\ntrailer\n<< /Size 1 /Root 1 0 R /Prev 9 >>\nstartxref\n9\n%%EOF"),
    "document_unreadable",
    "document_empty",
  ),
  hostile(
    "pdf",
    "a million brackets",
    () => pdfFrom([catalogue, onePage, page("4 0 R"), streamOf("[".repeat(1_000_000))]),
    "document_empty",
    "document_unreadable",
  ),
  hostile(
    "pdf",
    "dictionaries in one another",
    () => pdfFrom([`<< /Type /Catalog /Pages 2 0 R /A ${"<< /A ".repeat(100_000)}`, onePage]),
    "document_unreadable",
    "document_empty",
  ),
  hostile(
    "pdf",
    "a password",
    () =>
      pdfFrom(
        [catalogue, onePage, page("4 0 R"), streamOf("")],
        `/ID [<00112233445566778899aabbccddeeff> <00112233445566778899aabbccddeeff>] /Encrypt << /Filter /Standard /V 1 /R 2 /O <${"41".repeat(32)}> /U <${"42".repeat(32)}> /P -44 >> `,
      ),
    "document_encrypted",
  ),
  hostile(
    "pdf",
    "a certificate in place of a password",
    () =>
      pdfFrom(
        [catalogue, onePage, page("4 0 R"), streamOf("")],
        `/ID [<00112233445566778899aabbccddeeff> <00112233445566778899aabbccddeeff>] /Encrypt << /Filter /Adobe.PubSec /V 4 /SubFilter /adbe.pkcs7.s5 >> `,
      ),
    "document_encrypted",
  ),
  hostile(
    "pdf",
    "a paragraph of words that are all cut",
    () => pdfOf([Array.from({ length: 30_000 }, (_, at) => `w${at}a cut-`).join("\n")]),
    "text",
    "document_too_large",
  ),
  hostile("pdf", "a page of HTML", () => validDocuments.html, "document_unreadable"),
];

const encryptedOffice = () =>
  Buffer.concat([
    Buffer.from("d0cf11e0a1b11ae1", "hex"),
    Buffer.alloc(504),
    Buffer.from("EncryptedPackage", "utf16le"),
  ]);

const wrong: HostileDocument[] = [
  ...kinds.map((kind) => hostile(kind, "blank", () => utf8("  \n\n "), "document_empty", "document_unreadable")),
  ...kinds.map((kind) => hostile(kind, "noise", () => noise(20_000), "document_unreadable")),
  ...binary.map((kind) =>
    hostile(
      kind,
      "cut in half",
      () => validDocuments[kind].slice(0, validDocuments[kind].length / 2),
      "document_unreadable",
      "document_empty",
      "text",
    ),
  ),
  ...binary.slice(1).map((kind) => hostile(kind, "encrypted by Office", encryptedOffice, "document_encrypted")),
  ...binary.slice(1).map((kind) => hostile(kind, "a PDF", () => validDocuments.pdf, "document_unreadable")),
  ...(["txt", "md", "html", "json", "csv"] as const).map((kind) =>
    hostile(kind, "a text document", () => validDocuments.docx, "document_unreadable"),
  ),
];

/**
 * Documents that an attacker may upload. Each must end in time with one of its expected results, and harm no other
 * work.
 */
export const hostileDocuments: readonly HostileDocument[] = [
  ...archives,
  ...markup,
  ...tables,
  ...others,
  ...portable,
  ...wrong,
];

/** The same for images, and for PDFs that consist of images. Only a child process with OCR reads them. */
export interface HostileImage extends Omit<HostileDocument, "content"> {
  content: () => Uint8Array | Promise<Uint8Array>;
}

const imageTypes = { png: "image/png", jpeg: "image/jpeg", webp: "image/webp", gif: "image/gif", pdf: mimeTypes.pdf };

const hostileImage = (
  kind: keyof typeof imageTypes,
  name: string,
  content: HostileImage["content"],
  ...expected: HostileDocument["expected"]
): HostileImage => ({ name: `${kind}: ${name}`, mime_type: imageTypes[kind], content, expected, heavy: true });

const scan = () => new Uint8Array(readFileSync(new URL("./scans/scan.png", import.meta.url)));
const jpeg = () => new Bun.Image(scan()).jpeg({ quality: 80 }).bytes();
const webp = () => new Bun.Image(scan()).webp({ quality: 80 }).bytes();

/** Returns a PNG that declares this size, with these bytes compressed as its pixels. */
function pngOf(width: number, height: number, pixels: Uint8Array): Uint8Array {
  const part = (name: string, data: Uint8Array) => {
    const named = Buffer.concat([Buffer.from(name), data]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    sum.writeUInt32BE(crc32(named));
    return Buffer.concat([length, named, sum]);
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head[8] = 8; // Bits per pixel, in gray.
  return Buffer.concat([
    Buffer.from("89504e470d0a1a0a", "hex"),
    part("IHDR", head),
    part("IDAT", deflateSync(pixels)),
    part("IEND", new Uint8Array()),
  ]);
}

/** Returns a PDF page that draws these images, each given by its dictionary and its bytes. */
const scanOf = (...images: string[]) =>
  pdfFrom([
    catalogue,
    onePage,
    page("4 0 R", `/Resources << /XObject << ${images.map((_, at) => `/I${at} ${5 + at} 0 R`).join(" ")} >> >> `),
    streamOf(images.map((_, at) => `q 500 0 0 500 0 0 cm /I${at} Do Q`).join("\n")),
    ...images,
  ]);
const pixelsOf = (width: number, height: number, bytes: string, more = "") =>
  streamOf(
    bytes,
    `/Type /XObject /Subtype /Image /Width ${width} /Height ${height} /BitsPerComponent 8 /ColorSpace /DeviceGray ${more}`,
  );
/** Returns this number of zeros, compressed to a thousandth. */
const packedZeros = (bytes: number) => deflateSync(new Uint8Array(bytes)).toString("latin1");

export const hostileImages: readonly HostileImage[] = [
  hostileImage("png", "1.6 billion pixels in its head", () => pngOf(40_000, 40_000, noise(9)), "document_too_large"),
  hostileImage(
    "png",
    "a size beyond all numbers",
    () => pngOf(2 ** 32 - 1, 2 ** 32 - 1, noise(9)),
    "document_too_large",
    "document_unreadable",
  ),
  hostileImage("png", "no size", () => pngOf(0, 0, noise(9)), "document_unreadable"),
  hostileImage(
    "png",
    "a line a million pixels long",
    () => pngOf(1_000_000, 1, new Uint8Array(1_000_001)),
    "document_empty",
    "document_unreadable",
  ),
  hostileImage(
    "png",
    "49 million pixels in a few kilobytes",
    () => pngOf(7000, 7000, new Uint8Array(7001 * 7000)),
    "document_empty",
    "document_out_of_memory",
  ),
  hostileImage(
    "png",
    "too few pixels",
    () => pngOf(3000, 3000, new Uint8Array(3001)),
    "document_unreadable",
    "document_empty",
  ),
  hostileImage("png", "cut off", () => scan().subarray(0, 5000), "document_unreadable"),
  hostileImage("png", "nothing but its first bytes", () => scan().subarray(0, 8), "document_unreadable"),
  hostileImage(
    "jpeg",
    "cut off",
    async () => (await jpeg()).subarray(0, 3000),
    "document_unreadable",
    "document_empty",
    "text",
  ),
  hostileImage(
    "jpeg",
    "4.3 billion pixels in its head",
    async () => withSize(await jpeg()),
    "document_too_large",
    "document_unreadable",
  ),
  hostileImage(
    "webp",
    "cut off",
    async () => (await webp()).subarray(0, 3000),
    "document_unreadable",
    "document_empty",
    "text",
  ),
  hostileImage(
    "gif",
    "4.3 billion pixels in its head",
    () => Buffer.from("474946383961ffffffff0000002c00000000ffffffff0002", "hex"),
    "document_too_large",
    "document_unreadable",
  ),
  hostileImage("pdf", "images and no text", () => scanOf(pixelsOf(1, 1, "\xff")), "document_empty"),
  hostileImage(
    "pdf",
    "an image of 3.6 billion pixels",
    () => scanOf(pixelsOf(60_000, 60_000, packedZeros(10 * megabyte), "/Filter /FlateDecode ")),
    "document_empty",
  ),
  hostileImage(
    "pdf",
    "an image that is larger than its bytes",
    () => scanOf(pixelsOf(6000, 6000, "\0")),
    "document_empty",
  ),
  hostileImage(
    "pdf",
    "a hundred images of 49 million pixels",
    () => scanOf(...Array<string>(100).fill(pixelsOf(7000, 7000, packedZeros(49_000_000), "/Filter /FlateDecode "))),
    "document_empty",
    "document_out_of_memory",
  ),
];

/** Returns the JPEG with a declared size of 65,535 × 65,535 pixels. */
function withSize(image: Uint8Array): Uint8Array {
  const at = image.findIndex(
    (byte, index) => byte === 0xff && (image[index + 1] === 0xc0 || image[index + 1] === 0xc2),
  );
  return image.fill(0xff, at + 5, at + 9);
}
