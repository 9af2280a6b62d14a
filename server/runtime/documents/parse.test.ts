import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import {
  docxBody,
  docxOf,
  pdfFrom,
  pdfOf,
  pptxOf,
  relationships,
  streamOf,
  xlsxOf,
  zipOf,
} from "../../testing/documents.ts";
import { mimeTypes, noise, validDocuments } from "../../testing/hostile-documents/hostile-document.ts";
import { hostileImages } from "../../testing/hostile-documents/images.ts";
import { hostileDocuments } from "../../testing/hostile-documents.ts";
import { DocumentError, OcrRequired } from "./document-error.ts";
import { openOutline } from "./outline.ts";
import { parse } from "./parse.ts";
import { parsePdf } from "./parse-pdf.ts";

type Kind = keyof typeof mimeTypes;
const utf8 = (text: string) => new TextEncoder().encode(text);
const read = async (kind: Kind, content: string | Uint8Array) =>
  parse(typeof content === "string" ? utf8(content) : content, mimeTypes[kind]);
const texts = async (kind: Kind, content: string | Uint8Array) =>
  (await read(kind, content)).sections.map(({ text }) => text);
const scripts = "漢字かな 한국어 שלום עולם مرحبا हिन्दी 😀 Ünïcödé";

describe("text", () => {
  test.each<[string, Uint8Array]>([
    ["UTF-8", utf8("é漢😀")],
    ["UTF-8 with a mark", utf8("\ufeffé漢😀")],
    ["UTF-16, little end first", Buffer.from("\ufeffé漢😀", "utf16le")],
    ["UTF-16, big end first", Buffer.from("\ufeffé漢😀", "utf16le").swap16()],
  ])("in %s is read", async (_, bytes) => {
    expect(await texts("txt", bytes)).toEqual(["é漢😀"]);
  });

  test("that is not UTF-8 is read as Windows-1252, unless a character was only cut off at the end", async () => {
    expect(await texts("txt", Buffer.from("caf\xe9 \x93q\x94", "latin1"))).toEqual(["café “q”"]);
    const whole = utf8("漢字".repeat(50));
    expect(await texts("txt", whole.slice(0, -1))).toEqual([`${"漢字".repeat(50).slice(0, -1)}\ufffd`]);
  });

  test("of a web page is decoded as the page declares", async () => {
    const page = Buffer.concat([Buffer.from('<meta charset="shift_jis"><p>'), Buffer.from("8abf8e9a", "hex")]);
    expect(await texts("html", page)).toEqual(["漢字"]);
  });

  test("loses its control characters and keeps its lines", async () => {
    expect(await texts("txt", "a\r\nb\rc\u001b\0d\ttab some more text that is no binary file")).toEqual([
      "a\nb\ncd\ttab some more text that is no binary file",
    ]);
  });
});

describe("Markdown", () => {
  test("is cut at its headings, and not at lines that only look like one", async () => {
    const { sections } = await read(
      "md",
      "intro\n\n# A #\n\nx\n\n```sh\n# no\n```\n\n## B\n\ny #no\n\n# C\nz\n\nUnder\n=====\n\nlast",
    );
    expect(sections.map(({ heading, text }) => [heading, text])).toEqual([
      [null, "intro"],
      ["A", "# A\n\nx\n\n```sh\n# no\n```"],
      ["A › B", "## B\n\ny #no"],
      ["C", "# C\n\nz"],
      ["Under", "# Under\n\nlast"],
    ]);
  });
});

test("the title of an HTML page is its heading if it has no other", async () => {
  const page = (body: string) => `<!doctype html><html><head><title>Opening &amp; hours</title></head><body>${body}`;
  expect(await texts("html", page("<p>At nine.</p>"))).toEqual(["# Opening & hours\n\nAt nine."]);
  expect(await texts("html", page("<h1>Hours</h1><p>At nine.</p>"))).toEqual(["# Hours\n\nAt nine."]);
});

test("an HTML page keeps no tags that Markdown lacks, except those that its text is about", async () => {
  const [text] = await texts(
    "html",
    `<h1>T</h1><dl><dt>root</dt><dd>Reads <code>&lt;td&gt;</code>.</dd></dl>
     <table><tr><td>a<ul><li>one</li><li>two</li></ul></td><td><table><tr><td>b <code>&lt;td&gt;</code></table></table>`,
  );
  expect(text?.replace(/ +/g, " ")).toBe("# T\n\nroot\n\nReads `<td>`.\n\n| a one two | b `<td>` |\n| --- | --- |");
});

test("an HTML page keeps its content and loses navigation and other surroundings", async () => {
  const html = `<html><head><title>T</title><style>a{}</style></head><body><nav>menu</nav><h1>A &amp; B</h1>
    <p>text <a href="https://x.test/">link</a><img alt="pic" src="data:image/png;base64,AAAA"></p><script>evil()</script>
    <ul><li>one<li>two</ul><table><tr><th>a<th>b<tr><td>1<td>2</table><pre>code
# no</pre><footer>imprint</footer></body></html>`;
  const all = (await texts("html", html)).join("\n");
  for (const kept of ["# A & B", "[link](https://x.test/)", "pic", "- one", "| 1 | 2 |", "code\n# no"]) {
    expect(all).toContain(kept);
  }
  for (const lost of ["menu", "evil", "imprint", "base64", "a{}"]) expect(all).not.toContain(lost);
});

describe("data", () => {
  test("in JSON is read by elements and properties", async () => {
    expect(await texts("json", '[{"a":1},"two",[3]]')).toEqual(['{\n  "a": 1\n}\n\ntwo\n\n[\n  3\n]']);
    expect(await texts("json", '{"a":"x","b":{"c":1}}')).toEqual(['a: x\n\nb: {\n  "c": 1\n}']);
    expect(await texts("jsonl", '{"a":1}\nbroken\n')).toEqual(['{\n  "a": 1\n}\n\nbroken']);
  });

  test.each([
    ["a,b\n1,2\n", "| a | b |\n| --- | --- |\n| 1 | 2 |"],
    ['a;b\n"x;\ny ""q""|";2', '| a | b |\n| --- | --- |\n| x; y "q"\\| | 2 |'],
    ["a\tb\n\n1\t", "| a | b |\n| --- | --- |\n| 1 |"],
  ])("in CSV is a table: %j", async (csv, table) => {
    expect((await texts("csv", csv)).map((text) => text.replace(" |  |", " |"))).toEqual([table]);
  });
});

/** A text document with this body, a heading style and a list style. */
const docxFrom = (body: string) =>
  zipOf({
    "word/_rels/document.xml.rels": relationships([["rId1", "styles", "styles.xml"]]),
    "word/styles.xml": `<w:styles><w:style w:styleId="H"><w:name w:val="heading 1"/></w:style><w:style w:styleId="Bullets"><w:pPr><w:numPr/></w:pPr></w:style></w:styles>`,
    "word/document.xml": docxBody(body),
  });
const heading = (text: string, properties: string) =>
  `<w:p><w:pPr><w:pStyle w:val="H"/>${properties}</w:pPr><w:r><w:t>${text}</w:t></w:r></w:p>`;

describe("Office", () => {
  test("text documents have headings, lists of paragraphs, tables and every script", async () => {
    const parts = [
      { heading: "One", text: scripts },
      { heading: "Two", level: 2, text: "# is no heading & <b>" },
      {
        rows: [
          ["a", "b"],
          ["1", "2|3"],
        ],
      },
    ];
    const { sections, pages } = await read("docx", docxOf(parts));
    expect(pages).toBeNull();
    expect(sections.map(({ heading, text }) => [heading, text])).toEqual([
      ["One", `# One\n\n${scripts}`],
      ["One › Two", "## Two\n\n# is no heading & <b>\n\n| a | b |\n| --- | --- |\n| 1 | 2\\|3 |"],
    ]);
  });

  test("text documents have the pages of their last layout, if recorded", async () => {
    const turned = (text: string) => `<w:p><w:r><w:lastRenderedPageBreak/><w:t>${text}</w:t></w:r></w:p>`;
    const text = (text: string) => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`;
    const { sections, pages } = await read(
      "docx",
      docxFrom(`${heading("A", "")}${text("one")}${turned("two")}
        <w:tbl><w:tr><w:tc>${turned("cell")}</w:tc></w:tr></w:tbl>${text("three")}
        <w:p><w:r><w:t>still </w:t></w:r><w:r><w:lastRenderedPageBreak/><w:t>here</w:t></w:r></w:p>${text("four")}`),
    );
    expect(pages).toBe(4);
    expect(sections).toEqual([
      { page: 1, heading: "A", text: "# A\n\none" },
      { page: 2, heading: "A", text: "two\n\n| cell |\n| --- |" },
      { page: 3, heading: "A", text: "three\n\nstill here" },
      { page: 4, heading: "A", text: "four" },
    ]);
  });

  test("a numbered heading is no list item, a style can make one, and a tab stop is no tab", async () => {
    const { sections } = await read(
      "docx",
      docxFrom(
        `${heading("A", "<w:numPr><w:ilvl w:val='0'/></w:numPr><w:tabs><w:tab w:val='left'/></w:tabs>")}
         <w:p><w:pPr><w:pStyle w:val="Bullets"/></w:pPr><w:r><w:t>one</w:t><w:tab/><w:t>more</w:t></w:r></w:p>
         <w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val="2"/></w:tcPr><w:p><w:r><w:t>wide</w:t></w:r></w:p></w:tc>
         <w:tc><w:p><w:r><w:t>last</w:t></w:r></w:p></w:tc></w:tr></w:tbl>`,
      ),
    );
    expect(sections.map(({ text }) => text)).toEqual(["# A\n\n- one\tmore\n\n| wide |  | last |\n| --- | --- | --- |"]);
  });

  test("workbooks have one table per sheet, with dates as dates", async () => {
    const book = xlsxOf([
      {
        name: "People",
        rows: [
          ["name", "age", "born"],
          [scripts, 3.5, new Date("1999-12-31")],
          [null, true, null],
        ],
      },
      { name: "Empty", rows: [] },
      { name: "More", rows: [["x"]] },
    ]);
    const { sections } = await read("xlsx", book);
    expect(sections.map(({ heading, text }) => [heading, text])).toEqual([
      [
        "People",
        `# People\n\n| name | age | born |\n| --- | --- | --- |\n| ${scripts} | 3.5 | 1999-12-31 |\n|  | TRUE |`,
      ],
      ["More", "# More\n\n| x |\n| --- |"],
    ]);
  });

  test("the title of a sheet is no header, a stray cell adds no columns, a value below 1 is a time", async () => {
    const far = Array.from({ length: 300 }, () => null);
    const rows = [["Figures"], ["at", "what"], [new Date("1899-12-30T08:15:00Z"), "early", ...far, "stray"]];
    const { sections } = await read("xlsx", xlsxOf([{ name: "S", rows }]));
    expect(sections.map(({ text }) => text)).toEqual([
      "# S\n\nFigures\n\n| at | what |\n| --- | --- |\n| 08:15:00 | early | stray |",
    ]);
  });

  test("presentations have one page per slide, under its title, with its notes", async () => {
    const slides = pptxOf([{ title: "First", text: `a\n${scripts}`, notes: "said" }, {}, { text: "third" }]);
    expect(await read("pptx", slides)).toMatchObject({
      pages: 3,
      sections: [
        { page: 1, heading: "First", text: `# First\n\na\n${scripts}\n\nsaid` },
        { page: 3, heading: null, text: "third" },
      ],
    });
  });
});

test("a PDF has pages from 1, headings that continue over pages, and every script", async () => {
  const { sections, pages } = await read(
    "pdf",
    pdfOf(["# Chapter\nfirst line\nsecond", "漢字 😀 é\nשלום עולם", "# Next\nlast"]),
  );
  expect(pages).toBe(3);
  expect(sections).toMatchObject([
    { page: 1, heading: "Chapter", text: "# Chapter\n\nfirst line\nsecond" },
    { page: 2, heading: "Chapter", text: "漢字 😀 é\nשלום עולם" },
    { page: 3, heading: "Next", text: "# Next\n\nlast" },
  ]);
});

test("a PDF of a statement, a contract or slides keeps every row, clause and title", async () => {
  const rows = Array.from({ length: 150 }, (_, at) => `2026-10-0${1 + (at % 9)} Shop ${at} ${at * 7}.00`);
  const statement = Array.from({ length: 10 }, (_, at) =>
    ["Bank", ...rows.slice(at * 15, at * 15 + 15), `Page ${at + 1} of 10`].join("\n"),
  );
  const clauses = Array.from({ length: 9 }, (_, at) => `Clause ${at + 1}\nThe parties agree on ${at * 20}.`);
  const slides = Array.from({ length: 9 }, (_, at) => `# Slide ${at + 1}\nPoint ${at} of what we say`);
  for (const pages of [statement, clauses, slides]) {
    const found = new Set((await texts("pdf", pdfOf(pages))).flatMap((text) => text.split(/\n+/)));
    const lines = pages.flatMap((page) => page.split("\n")).filter((line) => !line.startsWith("Page "));
    expect(lines.filter((line) => !found.has(line))).toEqual([]);
    expect([...found].filter((line) => line.startsWith("Page "))).toEqual([]);
  }
});

test("a PDF of images, and an image, need a child with OCR", async () => {
  const { content } = hostileImages.find(({ name }) => name === "pdf: images and no text")!;
  expect(await outcome(await content(), mimeTypes.pdf)).toBe("scanned");
  expect(await outcome(new Uint8Array(1), "image/png")).toBe("scanned");
});

test("the error for images without text says that OCR reads English only", async () => {
  const image = readFileSync(new URL("../../testing/scans/scan.png", import.meta.url));
  const { content } = hostileImages.find(({ name }) => name === "pdf: images and no text")!;
  for (const [bytes, type] of [
    [image, "image/png"],
    [await content(), mimeTypes.pdf],
  ] as const)
    await expect(
      parse(new Uint8Array(bytes), type, { scans: { read: new Map(), left: [], lost: [] } }),
    ).rejects.toThrow("no English text");
});

/** Parses a document; any error that is not a document error fails the test. */
async function outcome(bytes: Uint8Array, mimeType: string): Promise<string> {
  try {
    const { sections } = await parse(bytes, mimeType);
    expect(sections.every(({ text }) => text.isWellFormed() && !text.includes("\0"))).toBe(true);
    return "text";
  } catch (error) {
    if (error instanceof OcrRequired) return "scanned";
    if (error instanceof DocumentError) return error.code;
    throw error;
  }
}

test.each(hostileDocuments.filter(({ heavy }) => !heavy))(
  "a hostile document has a clear end: $name",
  async ({ content, mime_type, expected }) => {
    expect(expected as readonly string[]).toContain(await outcome(content(), mime_type));
  },
);

test("valid documents with changed bytes are parsed or rejected with a document error", async () => {
  const kinds = Object.keys(mimeTypes) as Kind[];
  const outcomes = new Set<string>();
  for (let round = 0; round < 200; round++) {
    const kind = kinds[round % kinds.length] as Kind;
    const bytes = validDocuments[kind].slice();
    const random = noise(64, round * 7919 + 1);
    for (let at = 0; at < 8; at++) {
      const [high = 0, middle = 0, low = 0, value = 0] = random.subarray(at * 4);
      bytes[((high << 16) | (middle << 8) | low) % bytes.length] = value;
    }
    outcomes.add(
      await outcome(round % 3 === 0 ? bytes.slice(0, -(random[63] ?? 0) || undefined) : bytes, mimeTypes[kind]),
    );
  }
  expect([...outcomes]).toContain("text");
  expect([...outcomes]).toContain("document_unreadable");
}, 60_000);

describe("a PDF of more images than are read", () => {
  const pages = 53;
  const scans = pdfFrom([
    "<< /Type /Catalog /Pages 2 0 R >>",
    `<< /Type /Pages /Count ${pages} /Kids [${"3 0 R ".repeat(pages)}] >>`,
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Resources << /XObject << /I 4 0 R >> >> /Contents 5 0 R >>",
    streamOf("\xff", "/Type /XObject /Subtype /Image /Width 1 /Height 1 /BitsPerComponent 8 /ColorSpace /DeviceGray "),
    streamOf("/I Do"),
  ]);
  const texts = async (read: readonly number[], left: readonly number[], lost: readonly number[] = []) => {
    const outline = openOutline();
    const paragraphs = (page: number) => [[{ text: `Read ${page}`, box: [0, 0, 1, 1] as const }]];
    const found = new Map(read.map((page) => [page, paragraphs(page)]));
    const given = { scans: { read: found, left, lost }, ocr: null, onPages() {} };
    expect(await parsePdf(scans.slice(), outline, given)).toBe(pages);
    return {
      texts: outline.close().map(({ page, text, source }) => [page, text, source] as const),
      warnings: outline.report().warnings,
    };
  };
  const numbers = Array.from({ length: pages }, (_, at) => at + 1);

  test("asks for all of them before it has text", async () => {
    const done: number[] = [];
    const error = await parsePdf(scans.slice(), openOutline(), {
      scans: null,
      ocr: null,
      onPages: (count) => done.push(count),
    }).catch((error) => error);
    expect(error).toBeInstanceOf(OcrRequired);
    expect([error.scans, error.pages, Math.max(...done)]).toEqual([numbers, pages, 0]);
  });

  test("is read at once by a process that has OCR, within the same limits", async () => {
    const outline = openOutline();
    const ocr = () => [[{ text: "Read", box: null }]];
    await parsePdf(scans.slice(), outline, { scans: null, ocr, onPages() {} });
    const sections = outline.close();
    expect([sections.length, sections[49]?.text, sections[50]?.text.slice(0, 8)]).toEqual([51, "Read", "[3 pages"]);
  });

  test("has the first 50 pages, and says which ones are missing", async () => {
    const { texts: all, warnings } = await texts(numbers.slice(0, 50), [51, 52, 53]);
    expect(all).toHaveLength(51);
    expect(all[49]).toEqual([50, "Read 50", "ocr"]);
    expect(all[50]).toEqual([
      53,
      "[3 pages from page 51 on were not read: they have no text of their own.]",
      undefined,
    ]);
    expect(warnings).toEqual([]);
  });

  test("names the pages that could not be read", async () => {
    const { texts: all, warnings } = await texts([1, 3], [], [2]);
    expect(all.map(([page]) => page)).toEqual([1, 3]);
    expect(warnings).toEqual([
      { code: "text_unreadable", message: "The text in the image could not be read.", page: 2 },
    ]);
  });
});
