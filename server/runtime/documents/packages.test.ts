import { describe, expect, test } from "bun:test";
import { deflateRawSync } from "node:zlib";
import { docxBody, docxOf, odfOf, officeParts, pptxOf, relationships, xlsxOf, zipOf } from "../../testing/documents.ts";
import { mimeTypes } from "../../testing/hostile-documents/hostile-document.ts";
import { parse } from "./parse.ts";

type Kind = keyof typeof mimeTypes;
async function read(kind: Kind, content: Uint8Array) {
  const { sections, report } = await parse(content, mimeTypes[kind]);
  return { text: sections.map(({ text }) => text).join("\n\n"), warnings: report.warnings };
}
const textOf = async (kind: Kind, content: Uint8Array) => (await read(kind, content)).text;
const paragraph = (text: string) => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`;

describe("parts of a package", () => {
  test("are found by its relations, whatever their names are", async () => {
    const document = zipOf({
      ...officeParts("word/document2.xml", { "word/document2.xml": "wordprocessingml.document.main" }),
      "word/document2.xml": docxBody(paragraph("The key hangs.")),
    });
    const book = zipOf({
      "_rels/.rels": relationships([["a", "officeDocument", "/xl/book7.xml"]]),
      "xl/book7.xml": `<workbook><sheets><sheet name="S" r:id="x"/></sheets></workbook>`,
      "xl/_rels/book7.xml.rels": relationships([
        ["x", "worksheet", "/other/one.xml"],
        ["y", "sharedStrings", "..\\shared%20texts.xml"],
      ]),
      "shared texts.xml": "<sst><si><t>shared</t></si></sst>",
      "other/one.xml": `<worksheet><sheetData><row><c t="s"><v>0</v></c></row></sheetData></worksheet>`,
    });
    const show = zipOf({
      "_rels/.rels": relationships([["a", "officeDocument", "show.xml"]]),
      "show.xml": `<p:presentation><p:sldIdLst><p:sldId r:id="x"/></p:sldIdLst></p:presentation>`,
      "_rels/show.xml.rels": relationships([["x", "slide", "first.xml"]]),
      "first.xml": "<p:sld><p:sp><a:p><a:r><a:t>a slide</a:t></a:r></a:p></p:sp></p:sld>",
    });
    expect(await textOf("docx", document)).toBe("The key hangs.");
    expect(await textOf("xlsx", book)).toContain("shared");
    expect(await textOf("pptx", show)).toBe("a slide");
  });

  test("are found by their content types if no relation names the main one", async () => {
    const { "_rels/.rels": _, ...parts } = officeParts("word/x.xml", {
      "word/x.xml": "wordprocessingml.document.main",
    });
    expect(await textOf("docx", zipOf({ ...parts, "word/x.xml": docxBody(paragraph("found")) }))).toBe("found");
  });

  test("have the names of the strict variant of the standard, too", async () => {
    const strict = (type: string, target: string) =>
      `<Relationships><Relationship Id="r" Type="http://purl.oclc.org/ooxml/officeDocument/relationships/${type}" Target="${target}"/></Relationships>`;
    const sheet = `<row><c t="d"><v>2026-03-02T00:00:00</v></c><c t="d"><v>2026-03-02T14:30:00</v></c></row>`;
    const book = zipOf({
      "_rels/.rels": strict("officeDocument", "xl/workbook.xml"),
      "xl/workbook.xml": `<workbook xmlns="http://purl.oclc.org/ooxml/spreadsheetml/main"><sheets><sheet name="S" r:id="r"/></sheets></workbook>`,
      "xl/_rels/workbook.xml.rels": strict("worksheet", "worksheets/sheet1.xml"),
      "xl/worksheets/sheet1.xml": `<worksheet><sheetData>${sheet}</sheetData></worksheet>`,
    });
    expect(await textOf("xlsx", book)).toContain("| 2026-03-02 | 2026-03-02 14:30:00 |");
  });

  test("may differ from their references in case, and in the separators of Windows", async () => {
    const document = zipOf({
      "_rels\\.rels": relationships([["a", "officeDocument", "word/document.xml"]]),
      "Word\\Document.xml": docxBody(paragraph("still found")),
    });
    expect(await textOf("docx", document)).toBe("still found");
  });

  test("decide how a document is read, if its name says otherwise", async () => {
    const { text, warnings } = await read("docx", xlsxOf([{ name: "Prices", rows: [["oar", 4711]] }]));
    expect(text).toContain("| oar | 4711 |");
    expect(warnings).toMatchObject([{ code: "type_mismatch", message: expect.stringContaining("a workbook") }]);
    expect((await read("xlsx", odfOf("<text:p>words</text:p>"))).text).toBe("words");
    expect((await read("pptx", docxOf([{ text: "words" }]))).warnings).toHaveLength(1);
    expect((await read("pptx", pptxOf([{ text: "words" }]))).warnings).toEqual([]);
  });

  test.each([
    [{ "xl/workbook.bin": "x" }, "binary workbook (XLSB)"],
    [{ "Index/Document.iwa": "x" }, "Apple iWork"],
    [{ mimetype: "x" }, "another kind of file"],
  ])("of a format without a reader name it: %j", (parts, message) => {
    expect(parse(zipOf(parts), mimeTypes.xlsx)).rejects.toThrow(message);
  });

  test("may stand in one XML file", async () => {
    const part = (name: string, content: string) =>
      `<pkg:part pkg:name="/${name}" pkg:contentType="x"><pkg:xmlData>${content}</pkg:xmlData></pkg:part>`;
    const flat = `<?xml version="1.0"?><?mso-application progid="Word.Document"?>
      <pkg:package xmlns:pkg="http://schemas.microsoft.com/office/2006/xmlPackage">
      ${part("_rels/.rels", relationships([["a", "officeDocument", "word/document.xml"]]).replace(/<\?.*?\?>/, ""))}
      ${part("word/document.xml", docxBody(paragraph("in one file")).replace(/<\?.*?\?>/, ""))}
      <pkg:part pkg:name="/word/media/a.png"><pkg:binaryData>iVBORw0KGgo=</pkg:binaryData></pkg:part></pkg:package>`;
    const { sections } = await parse(new TextEncoder().encode(flat), "application/vnd.ms-word2006ml");
    expect(sections.map(({ text }) => text)).toEqual(["in one file"]);
  });
});

describe("a damaged part", () => {
  const bad = "<broken";
  test("beside the main one costs its own text, and is reported", async () => {
    const parts = { footnotes: bad, comments: `<!DOCTYPE a><w:comments/>`, header1: bad, numbering: bad, styles: bad };
    const document = zipOf({
      "word/document.xml": docxBody(paragraph("The key hangs.")),
      "word/_rels/document.xml.rels": relationships(
        Object.keys(parts).map((type) => [type, type.replace(/\d$/, ""), `${type}.xml`] as const),
      ),
      ...Object.fromEntries(Object.entries(parts).map(([type, part]) => [`word/${type}.xml`, part])),
    });
    const { text, warnings } = await read("docx", document);
    expect(text).toBe("The key hangs.");
    expect(new Set(warnings.map(({ code }) => code))).toEqual(new Set(["part_unreadable"]));
    expect(warnings.map(({ message }) => /word\/(\w+)/.exec(message)?.[1]).sort()).toEqual(Object.keys(parts).sort());
  });

  test("that is a formula with a document type does not cost the text around it", async () => {
    const formula = `<!DOCTYPE math:math PUBLIC "-//OpenOffice.org//DTD Modified W3C MathML 1.01//EN" "math.dtd"><math:math/>`;
    const body = `<text:p>The key hangs.</text:p><text:p><draw:object xlink:href="./Object 1"/></text:p>`;
    const { text, warnings } = await read("odt", odfOf(body, { "Object 1/content.xml": formula }));
    expect(text).toBe("The key hangs.");
    expect(warnings).toMatchObject([{ code: "part_unreadable", message: expect.stringContaining("Object 1") }]);
  });

  test("that is a sheet or a slide does not cost the others", async () => {
    const sheet = (text: string) =>
      `<worksheet><sheetData><row><c t="inlineStr"><is><t>${text}</t></is></c></row></sheetData></worksheet>`;
    const book = zipOf({
      "xl/workbook.xml": `<workbook><sheets><sheet name="A" r:id="a"/><sheet name="B" r:id="b"/></sheets></workbook>`,
      "xl/_rels/workbook.xml.rels": relationships([
        ["a", "worksheet", "a.xml"],
        ["b", "worksheet", "b.xml"],
      ]),
      "xl/a.xml": sheet("kept").slice(0, -20),
      "xl/b.xml": sheet("whole"),
    });
    const { text, warnings } = await read("xlsx", book);
    expect([text.includes("kept"), text.includes("whole"), warnings.map(({ code }) => code)]).toEqual([
      true,
      true,
      ["part_unreadable"],
    ]);
  });

  test("that holds all text makes the document unreadable", () => {
    const book = {
      "xl/workbook.xml": `<workbook><sheets><sheet name="A" r:id="a"/></sheets></workbook>`,
      "xl/_rels/workbook.xml.rels": relationships([["a", "worksheet", "a.xml"]]),
      "xl/a.xml": "<!DOCTYPE a><worksheet/>",
    };
    expect(parse(zipOf(book), mimeTypes.xlsx)).rejects.toThrow("xl/a.xml");
  });
});

test("documents within a text document are read in their place: a page, rich text, another text document", async () => {
  const parts = {
    "a.html": "<h1>Rules</h1>",
    "b.rtf": "{\\rtf1 rich}",
    "c.docx": docxOf([{ text: "inner" }]),
    "d.bin": "<html><body><p>unnamed</p></body></html>",
    "e.pdf": "%PDF-1.7",
  };
  const names = Object.keys(parts);
  const body = names.map((name) => `<w:altChunk r:id="${name}"/>`).join(paragraph("between"));
  const document = zipOf({
    "word/document.xml": docxBody(body),
    "word/_rels/document.xml.rels": relationships(names.map((name) => [name, "aFChunk", name] as const)),
    ...Object.fromEntries(Object.entries(parts).map(([name, content]) => [`word/${name}`, content])),
  });
  const { text, warnings } = await read("docx", document);
  expect(text.split(/\n+/)).toEqual(
    ["# Rules", "between", "rich", "between", "inner", "between", "unnamed", "between"].concat(
      "[A document within this one was not read: e.pdf]",
    ),
  );
  expect(warnings).toMatchObject([{ code: "part_unreadable", message: expect.stringContaining("e.pdf") }]);
});

describe("an archive", () => {
  const content = Buffer.from(docxBody(paragraph("The key hangs behind the counter.")));
  const packed = deflateRawSync(content);
  const name = Buffer.from("word/document.xml");

  interface Lies {
    /** Sizes in the local header. */
    local?: number;
    /** Packed size in the directory. */
    directory?: number;
    /** Bytes after the packed data. */
    descriptor?: Buffer;
    zip64?: boolean;
  }

  /** An archive of one entry, whose headers say what they are told. */
  function archiveOf({ local = packed.length, directory = packed.length, descriptor, zip64 = false }: Lies): Buffer {
    const numbers = (...values: [value: number | bigint, bytes: 2 | 4 | 8][]) =>
      Buffer.concat(
        values.map(([value, bytes]) => {
          const field = Buffer.alloc(8);
          field.writeBigUInt64LE(BigInt(value));
          return field.subarray(0, bytes);
        }),
      );
    const flags = descriptor ? 8 : 0;
    const all = 0xffffffff;
    const head = [
      [20, 2],
      [flags, 2],
      [8, 2],
      [0, 4],
      [0, 4],
    ] as const;
    const first = Buffer.concat([
      numbers([0x04034b50, 4], ...head.map(([value, bytes]) => [value, bytes] as [number, 2 | 4])),
      numbers([local, 4], [local, 4], [name.length, 2], [0, 2]),
      name,
      packed,
      descriptor ?? Buffer.alloc(0),
    ]);
    const extra = zip64 ? numbers([1, 2], [24, 2], [content.length, 8], [packed.length, 8], [0, 8]) : Buffer.alloc(0);
    const entry = Buffer.concat([
      numbers([0x02014b50, 4], [20, 2], ...head.map(([value, bytes]) => [value, bytes] as [number, 2 | 4])),
      numbers([zip64 ? all : directory, 4], [zip64 ? all : content.length, 4], [name.length, 2], [extra.length, 2]),
      numbers([0, 2], [0, 2], [0, 2], [0, 4], [zip64 ? all : 0, 4]),
      name,
      extra,
    ]);
    const start = first.length;
    const end64 = zip64
      ? Buffer.concat([
          numbers([0x06064b50, 4], [44, 8], [45, 2], [45, 2], [0, 4], [0, 4], [1, 8], [1, 8]),
          numbers([entry.length, 8], [start, 8]),
          numbers([0x07064b50, 4], [0, 4], [start + entry.length, 8], [1, 4]),
        ])
      : Buffer.alloc(0);
    const end = numbers([0x06054b50, 4], [0, 4], [zip64 ? 0xffff : 1, 2], [zip64 ? 0xffff : 1, 2]);
    const place = numbers([zip64 ? all : entry.length, 4], [zip64 ? all : start, 4], [0, 2]);
    return Buffer.concat([first, entry, end64, end, place]);
  }

  const archives: [string, Buffer][] = [
    ["with the sizes after the data", archiveOf({ local: 0, descriptor: Buffer.alloc(16) })],
    ["with wrong sizes in the local header", archiveOf({ local: 7 })],
    ["with a wrong packed size in the directory", archiveOf({ directory: 9 })],
    ["of the format for large archives", archiveOf({ zip64: true })],
    ["after other bytes", Buffer.concat([Buffer.from("#!/bin/sh\nexit\n"), archiveOf({})])],
    ["before other bytes", Buffer.concat([archiveOf({}), Buffer.alloc(2000, 32)])],
  ];
  test.each(archives)("%s is read", async (_, archive) => {
    expect(await textOf("docx", new Uint8Array(archive))).toBe("The key hangs behind the counter.");
  });

  test("without its end says so, even if it holds a complete one", () => {
    const cut = archiveOf({}).subarray(0, -30);
    expect(parse(new Uint8Array(cut), mimeTypes.docx)).rejects.toThrow("its end is missing");
    const inner = zipOf({ "word/document.xml": docxBody(paragraph("inner")) });
    const outer = Buffer.concat([archiveOf({}).subarray(0, 200), inner, Buffer.alloc(50)]);
    expect(parse(new Uint8Array(outer), mimeTypes.docx)).rejects.toThrow("its end is missing");
  });
});
