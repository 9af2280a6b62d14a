import { decodeText } from "./decode.ts";
import { docxBody } from "./docx-body.ts";
import { createDocxNotes, notesOf } from "./docx-notes.ts";
import { listMarks } from "./docx-numbering.ts";
import { stylesOf } from "./docx-styles.ts";
import { drawingTexts, outlineDrawings } from "./drawing-text.ts";
import { type OfficeFile, openOffice } from "./office.ts";
import type { Outline } from "./outline.ts";
import { hasWords } from "./page-edges.ts";
import { parseHtml } from "./parse-html.ts";
import { parseMht } from "./parse-mht.ts";
import type { ParserOptions } from "./parse-options.ts";
import { parseRtf } from "./parse-rtf.ts";
import { openPartText } from "./part-outline.ts";
import { readXml } from "./xml.ts";

const main = "word/document.xml";
const pageBreak = "lastRenderedPageBreak";

/**
 * Parses a text document: headings, numbered lists, tables, text boxes, notes and comments. Pages are those recorded
 * when it was last laid out. Returns their number, or null if none are recorded.
 */
export async function parseDocx(bytes: Uint8Array, outline: Outline, options: ParserOptions): Promise<number | null> {
  const file = openOffice(bytes);
  const content = file.need(main);
  const byId = file.related(main);
  const related = [...byId.values()];
  const part = (type: string) => file.read(related.find((one) => one.type === type)?.part ?? "");
  const isPaged = Buffer.from(content.buffer, content.byteOffset, content.byteLength).includes(pageBreak);
  if (isPaged) outline.page(1);
  const aside = createDocxNotes(part);
  const pages = new Map<string, (outline: Outline) => void>();
  for (const { part } of related) {
    const page = /\.mht(?:ml)?$/i.test(part) ? file.read(part) : null;
    if (!page) continue;
    const text = openPartText();
    await parseMht(page, text.outline, options);
    pages.set(part, text.writeTo);
  }
  const insert = (id: string) => {
    const inserted = byId.get(id)?.part ?? "";
    const page = pages.get(inserted);
    if (page) page(outline);
    else outlineInserted(file, inserted, outline);
  };
  const [styles, marks] = [stylesOf(part("styles")), listMarks(part("numbering"))];
  const body = docxBody(outline, { styles, marks, aside, insert });
  readXml(content, body);
  outlineDrawings(file, main, outline);
  for (const text of aside.left()) outline.block(text);
  const edges = related.filter(({ type }) => type === "header" || type === "footer");
  outlineEdges(
    file,
    edges.map(({ part }) => part),
    outline,
  );
  return isPaged ? body.pages() : null;
}

/** Parses an embedded document of another format (altChunk), which Word merges on the next save. */
function outlineInserted(file: OfficeFile, part: string, outline: Outline): void {
  const content = file.read(part);
  if (content === null) return;
  const ending = part.slice(part.lastIndexOf(".") + 1).toLowerCase();
  if (/^x?html?$/.test(ending)) parseHtml(content, outline);
  else if (ending === "rtf") parseRtf(content, outline);
  else if (ending === "txt") outline.block(decodeText(content));
  else outline.block(`[A document within this one was not read: ${part.slice(part.lastIndexOf("/") + 1)}]`);
}

/** Outputs headers and footers once, after the text, unless they are only page numbers. */
function outlineEdges(file: OfficeFile, parts: readonly string[], outline: Outline): void {
  const texts = parts.flatMap((part) => {
    const content = file.read(part);
    const written = ["hdr", "ftr"].flatMap((name) => [...notesOf(content, name).values()]);
    return [...written.map(({ text }) => text), ...drawingTexts(file, part)];
  });
  const worded = new Set(texts.filter(hasWords));
  if (worded.size > 0) outline.leave();
  for (const text of worded) outline.block(text);
}
