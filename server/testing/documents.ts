import { strToU8, zipSync } from "fflate";

/** Small valid documents for tests. Their bytes are deterministic. */

/** Returns a ZIP archive of these files, such as an Office document. */
export function zipOf(files: Record<string, string | Uint8Array>): Uint8Array<ArrayBuffer> {
  const entries = Object.entries(files).map(([name, content]) => [
    name,
    typeof content === "string" ? strToU8(content) : content,
  ]);
  return new Uint8Array(zipSync(Object.fromEntries(entries), { mtime: "2026-01-01" }));
}

const escapeXml = (text: string): string => text.replace(/[<>&"]/g, (character) => `&#${character.charCodeAt(0)};`);

const declaration = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>`;
const office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const packaging = "http://schemas.openxmlformats.org/package/2006";
const wordsOfMain = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";
const cellsOfMain = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const slidesOfMain = "http://schemas.openxmlformats.org/presentationml/2006/main";
const drawing = "http://schemas.openxmlformats.org/drawingml/2006/main";
const kindsOfParts = "application/vnd.openxmlformats-officedocument";

/** Returns the two parts that every Office file has: the content types and the relationships. */
export function officeParts(main: string, kinds: Record<string, string>): Record<string, string> {
  const overrides = Object.entries(kinds).map(
    ([part, kind]) => `<Override PartName="/${part}" ContentType="${kindsOfParts}.${kind}+xml"/>`,
  );
  return {
    "[Content_Types].xml": `${declaration}<Types xmlns="${packaging}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>${overrides.join("")}</Types>`,
    "_rels/.rels": relationships([["rId1", "officeDocument", main]]),
  };
}

export function relationships(list: readonly (readonly [id: string, type: string, target: string])[]): string {
  const all = list.map(
    ([id, type, target]) => `<Relationship Id="${id}" Type="${office}/${type}" Target="${target}"/>`,
  );
  return `${declaration}<Relationships xmlns="${packaging}/relationships">${all.join("")}</Relationships>`;
}

/** Part of a text document: a paragraph, a heading of this level (default 1), or a table. */
interface DocxPart {
  heading?: string;
  level?: number;
  text?: string;
  rows?: readonly (readonly string[])[];
}

export function docxOf(parts: readonly DocxPart[]): Uint8Array<ArrayBuffer> {
  const body = parts.map(({ heading, level = 1, text, rows }) =>
    [
      heading === undefined ? "" : paragraph(heading, `<w:pPr><w:pStyle w:val="Heading${level}"/></w:pPr>`),
      ...(text === undefined ? [] : text.split("\n").map((line) => paragraph(line))),
      rows === undefined ? "" : docxTable(rows),
    ].join(""),
  );
  return zipOf({
    ...officeParts("word/document.xml", {
      "word/document.xml": "wordprocessingml.document.main",
      "word/styles.xml": "wordprocessingml.styles",
    }),
    "word/_rels/document.xml.rels": relationships([["rId1", "styles", "styles.xml"]]),
    "word/styles.xml": `${declaration}<w:styles xmlns:w="${wordsOfMain}">${normalStyle}${[1, 2, 3].map(headingStyle).join("")}</w:styles>`,
    "word/document.xml": docxBody(body.join("")),
  });
}

/** Returns the main part of a text document around this body. */
export const docxBody = (body: string, before = ""): string =>
  `${declaration}${before}<w:document xmlns:w="${wordsOfMain}"><w:body>${body}<w:sectPr/></w:body></w:document>`;

const normalStyle = `<w:style w:type="paragraph" w:default="1" w:styleId="Normal"><w:name w:val="Normal"/></w:style>`;
const headingStyle = (level: number): string =>
  `<w:style w:type="paragraph" w:styleId="Heading${level}"><w:name w:val="heading ${level}"/><w:pPr><w:outlineLvl w:val="${level - 1}"/></w:pPr></w:style>`;

const paragraph = (text: string, properties = ""): string =>
  `<w:p>${properties}<w:r><w:t xml:space="preserve">${escapeXml(text)}</w:t></w:r></w:p>`;

function docxTable(rows: readonly (readonly string[])[]): string {
  const lines = rows.map((cells) => `<w:tr>${cells.map((cell) => `<w:tc>${paragraph(cell)}</w:tc>`).join("")}</w:tr>`);
  return `<w:tbl>${lines.join("")}</w:tbl>`;
}

interface Sheet {
  name: string;
  rows: readonly (readonly (string | number | boolean | Date | null)[])[];
}

export function xlsxOf(sheets: readonly Sheet[]): Uint8Array<ArrayBuffer> {
  const part = (at: number) => `xl/worksheets/sheet${at + 1}.xml`;
  const names = sheets.map(
    ({ name }, at) => `<sheet name="${escapeXml(name)}" sheetId="${at + 1}" r:id="rId${at + 1}"/>`,
  );
  return zipOf({
    ...officeParts("xl/workbook.xml", {
      "xl/workbook.xml": "spreadsheetml.sheet.main",
      "xl/styles.xml": "spreadsheetml.styles",
      ...Object.fromEntries(sheets.map((_, at) => [part(at), "spreadsheetml.worksheet"])),
    }),
    "xl/workbook.xml": `${declaration}<workbook xmlns="${cellsOfMain}" xmlns:r="${office}"><sheets>${names.join("")}</sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": relationships([
      ...sheets.map((_, at) => [`rId${at + 1}`, "worksheet", `worksheets/sheet${at + 1}.xml`] as const),
      ["rIdStyles", "styles", "styles.xml"],
    ]),
    // The second cell format is a date.
    "xl/styles.xml": `${declaration}<styleSheet xmlns="${cellsOfMain}"><fonts count="1"><font/></fonts><fills count="1"><fill><patternFill patternType="none"/></fill></fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="14" applyNumberFormat="1"/></cellXfs></styleSheet>`,
    ...Object.fromEntries(sheets.map(({ rows }, at) => [part(at), sheetXml(rows.map(row).join(""))])),
  });
}

export const sheetXml = (rows: string, before = ""): string =>
  `${declaration}<worksheet xmlns="${cellsOfMain}">${before}<sheetData>${rows}</sheetData></worksheet>`;

function row(cells: Sheet["rows"][number], at: number): string {
  const all = cells.map((value, column) => cell(value, `${columnName(column)}${at + 1}`));
  return `<row r="${at + 1}">${all.join("")}</row>`;
}

function cell(value: Sheet["rows"][number][number], at: string): string {
  if (value === null) return "";
  if (value instanceof Date) return `<c r="${at}" s="1"><v>${value.getTime() / 86_400_000 + 25_569}</v></c>`;
  if (typeof value === "boolean") return `<c r="${at}" t="b"><v>${Number(value)}</v></c>`;
  if (typeof value === "number") return `<c r="${at}"><v>${value}</v></c>`;
  return `<c r="${at}" t="inlineStr"><is><t xml:space="preserve">${escapeXml(value)}</t></is></c>`;
}

/** A, B, … Z, AA, … */
export function columnName(column: number): string {
  const letter = String.fromCharCode(65 + (column % 26));
  return column < 26 ? letter : columnName(Math.floor(column / 26) - 1) + letter;
}

interface Slide {
  title?: string;
  text?: string;
  notes?: string;
}

export function pptxOf(slides: readonly Slide[]): Uint8Array<ArrayBuffer> {
  const numbered = slides.map((slide, at) => ({ ...slide, number: at + 1 }));
  const withNotes = numbered.filter(({ notes }) => notes !== undefined);
  const ids = numbered.map(({ number }) => `<p:sldId id="${255 + number}" r:id="rId${number}"/>`);
  return zipOf({
    ...officeParts("ppt/presentation.xml", {
      "ppt/presentation.xml": "presentationml.presentation.main",
      ...Object.fromEntries(numbered.map(({ number }) => [`ppt/slides/slide${number}.xml`, "presentationml.slide"])),
    }),
    "ppt/presentation.xml": `${declaration}<p:presentation xmlns:p="${slidesOfMain}" xmlns:r="${office}"><p:sldIdLst>${ids.join("")}</p:sldIdLst></p:presentation>`,
    "ppt/_rels/presentation.xml.rels": relationships(
      numbered.map(({ number }) => [`rId${number}`, "slide", `slides/slide${number}.xml`] as const),
    ),
    ...Object.fromEntries(
      numbered.map(({ number, title, text }) => [`ppt/slides/slide${number}.xml`, slideXml(title, text)]),
    ),
    ...Object.fromEntries(
      withNotes.flatMap(({ number, notes }) => [
        [
          `ppt/slides/_rels/slide${number}.xml.rels`,
          relationships([["rId1", "notesSlide", `../notesSlides/notesSlide${number}.xml`]]),
        ],
        [`ppt/notesSlides/notesSlide${number}.xml`, slideXml(undefined, notes)],
      ]),
    ),
  });
}

function slideXml(title: string | undefined, text: string | undefined): string {
  const shapes = [
    title === undefined ? "" : shape("title", title),
    ...(text === undefined ? [] : [shape("body", text)]),
  ];
  return `${declaration}<p:sld xmlns:p="${slidesOfMain}" xmlns:a="${drawing}"><p:cSld><p:spTree>${shapes.join("")}</p:spTree></p:cSld></p:sld>`;
}

function shape(kind: string, text: string): string {
  const lines = text.split("\n").map((line) => `<a:p><a:r><a:t>${escapeXml(line)}</a:t></a:r></a:p>`);
  return `<p:sp><p:nvSpPr><p:nvPr><p:ph type="${kind}"/></p:nvPr></p:nvSpPr><p:txBody>${lines.join("")}</p:txBody></p:sp>`;
}

/** Returns an OpenDocument file with this body. */
export const odfOf = (body: string, parts: Record<string, string> = {}): Uint8Array<ArrayBuffer> =>
  zipOf({
    mimetype: "application/vnd.oasis.opendocument.text",
    "content.xml": `${declaration}<office:document-content><office:body><office:text>${body}</office:text></office:body></office:document-content>`,
    ...parts,
  });

/** Returns an EPUB of HTML chapters, the whole list repeated `times`. */
export const epubOf = (chapters: readonly string[], times = 1, parts: Record<string, string> = {}) =>
  zipOf({
    mimetype: "application/epub+zip",
    "META-INF/container.xml": `<container><rootfile full-path="book.opf"/></container>`,
    "book.opf": `<package><manifest>${chapters.map((_, at) => `<item id="c${at}" href="c${at}.xhtml"/>`).join("")}</manifest><spine>${chapters
      .map((_, at) => `<itemref idref="c${at}"/>`)
      .join("")
      .repeat(times)}</spine></package>`,
    ...Object.fromEntries(chapters.map((body, at) => [`c${at}.xhtml`, `<html><body>${body}</body></html>`])),
    ...parts,
  });

/**
 * Returns a PDF with a page for each text. A line that begins with `# ` is set as a larger heading; tabs separate
 * columns.
 */
export const pdfOf = (pages: readonly string[]): Uint8Array<ArrayBuffer> =>
  pdfDrawn(pages.join(""), (codes) => pages.map((page) => pageContent(page, codes)));

/** Text and its position on a page of A4, in points from the lower left corner. Each letter is half as wide as high. */
export interface PlacedText {
  text: string;
  x: number;
  y: number;
  size?: number;
  isBold?: boolean;
}

/** Returns a PDF whose texts have given positions; they are drawn in their order. */
export const pdfOfPlaced = (pages: readonly (readonly PlacedText[])[]): Uint8Array<ArrayBuffer> =>
  pdfDrawn(pages.flatMap((page) => page.map(({ text }) => text)).join(""), (codes) =>
    pages.map((page) =>
      page
        .map(({ text, x, y, size = 10, isBold = false }) => {
          const shown = [...text].map((character) => codes.get(character)).join("");
          return `BT /F${isBold ? 2 : 1} ${size} Tf ${x} ${y} Td <${shown}> Tj ET`;
        })
        .join("\n"),
    ),
  );

/** Places rows below each other from this height down, their parts in columns. The first row may be bold. */
export const rowsAt = (
  rows: readonly (readonly string[])[],
  y: number,
  columns: readonly number[],
  isBold = false,
): PlacedText[] =>
  rows.flatMap((cells, row) =>
    cells.map((text, at) => ({ text, x: columns[at]!, y: y - 16 * row, isBold: isBold && row === 0 })),
  );

/** Places lines below each other from this height down. */
export const linesAt = (texts: readonly string[], y: number, size = 10): PlacedText[] =>
  texts.map((text, at) => ({ text, x: 60, y: y - 1.4 * size * at, size }));

function pdfDrawn(
  characters: string,
  draw: (codes: ReadonlyMap<string, string>) => readonly string[],
): Uint8Array<ArrayBuffer> {
  // Map each used character to a number and back: this writes any script without a font in the file.
  const codes = new Map([...new Set(characters)].map((character, at) => [character, hex(at + 1)]));
  const pages = draw(codes);
  const first = 8;
  const font = (name: string) =>
    `<< /Type /Font /Subtype /Type0 /BaseFont /${name} /Encoding /Identity-H /DescendantFonts [4 0 R] /ToUnicode 6 0 R >>`;
  return pdfFrom([
    "<< /Type /Catalog /Pages 2 0 R >>",
    `<< /Type /Pages /Count ${pages.length} /Kids [${pages.map((_, at) => `${first + 2 * at} 0 R`).join(" ")}] >>`,
    font("Sans"),
    "<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Sans /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> /FontDescriptor 5 0 R /DW 500 >>",
    "<< /Type /FontDescriptor /FontName /Sans /Flags 4 /FontBBox [0 -200 1000 800] /ItalicAngle 0 /Ascent 800 /Descent -200 /CapHeight 700 /StemV 80 >>",
    streamOf(characterMap(codes)),
    font("Sans-Bold"),
    ...pages.flatMap((content, at) => [
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R /F2 7 0 R >> >> /Contents ${first + 2 * at + 1} 0 R >>`,
      streamOf(content),
    ]),
  ]);
}

/** Returns a stream with the characters of `content` as its bytes; `more` are further entries of its dictionary. */
export const streamOf = (content: string, more = ""): string =>
  `<< /Length ${content.length} ${more}>>\nstream\n${content}\nendstream`;

/** Returns the file around its objects, which are numbered from 1; the first is the catalogue. */
export function pdfFrom(objects: readonly string[], trailer = ""): Uint8Array<ArrayBuffer> {
  const pieces = ["%PDF-1.7\n"];
  const offsets = [];
  let length = 9;
  for (const [at, object] of objects.entries()) {
    const piece = `${at + 1} 0 obj\n${object}\nendobj\n`;
    offsets.push(length);
    pieces.push(piece);
    length += piece.length;
  }
  const table = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  pieces.push(`xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}`);
  pieces.push(`trailer\n<< /Size ${objects.length + 1} /Root 1 0 R ${trailer}>>\nstartxref\n${length}\n%%EOF\n`);
  return new Uint8Array(Buffer.from(pieces.join(""), "latin1"));
}

/** Points from one column to the next. */
const column = 120;

function pageContent(page: string, codes: ReadonlyMap<string, string>): string {
  const lines = page.split("\n").map((line) => {
    const heading = line.startsWith("# ");
    const cells = (heading ? line.slice(2) : line).split("\t").map((cell) => {
      const shown = [...asSeen(cell)].map((character) => codes.get(character)).join("");
      return `<${shown}> Tj`;
    });
    const back = cells.length > 1 ? `${-column * (cells.length - 1)} 0 Td ` : "";
    return `/F1 ${heading ? 20 : 11} Tf ${heading ? 26 : 14} TL ${cells.join(` ${column} 0 Td `)} ${back}T*`;
  });
  return `BT 60 780 Td\n${lines.join("\n")}\nET`;
}

/** A page stores right-to-left text in visual order, from left to right. */
const asSeen = (line: string): string =>
  line.replace(/[\u0590-\u08ff]+(?: [\u0590-\u08ff]+)*/g, (run) => [...run].reverse().join(""));

function characterMap(codes: ReadonlyMap<string, string>): string {
  const lines = Array.from(codes, ([character, code]) => `<${code}> <${utf16(character)}>`);
  const groups = Array.from({ length: Math.ceil(lines.length / 100) }, (_, at) =>
    lines.slice(at * 100, at * 100 + 100),
  );
  const mapped = groups.map((group) => `${group.length} beginbfchar\n${group.join("\n")}\nendbfchar`);
  return `/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n/CMapName /Same def\n/CMapType 2 def\n1 begincodespacerange\n<0000> <FFFF>\nendcodespacerange\n${mapped.join("\n")}\nendcmap\nend\nend`;
}

const hex = (number: number): string => number.toString(16).padStart(4, "0");
const utf16 = (character: string): string =>
  Array.from({ length: character.length }, (_, at) => hex(character.charCodeAt(at))).join("");

/** Returns the text of each page. */
export const textsOfPages = (sections: readonly { page: number | null; text: string }[], count: number): string[] =>
  Array.from({ length: count }, (_, at) =>
    sections
      .filter(({ page }) => page === at + 1)
      .map(({ text }) => text)
      .join("\n\n"),
  );
