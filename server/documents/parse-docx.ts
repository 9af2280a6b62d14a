import { decodeText } from "./decode.ts";
import { docxBody } from "./docx-body.ts";
import { asideOf, notesOf } from "./docx-notes.ts";
import { listMarks } from "./docx-numbering.ts";
import { stylesOf } from "./docx-styles.ts";
import { drawnIn, outlineDrawings } from "./drawing-text.ts";
import { type OfficeFile, openOffice } from "./office.ts";
import type { Outline } from "./outline.ts";
import { saysMore } from "./page-edges.ts";
import { parseEml } from "./parse-eml.ts";
import { parseHtml } from "./parse-html.ts";
import { parseRtf } from "./parse-rtf.ts";
import { readXml } from "./xml.ts";

const main = "word/document.xml";
const pageBreak = "lastRenderedPageBreak";

/**
 * A text document: paragraphs under their headings, lists with their numbers, tables, text boxes, notes and comments.
 * Its pages are those of its last print, where it tells of one. Gives how many those are.
 */
export function parseDocx(bytes: Uint8Array, outline: Outline): number | null {
  const file = openOffice(bytes);
  const content = file.need(main);
  const byId = file.related(main);
  const related = [...byId.values()];
  const part = (type: string) => file.read(related.find((one) => one.type === type)?.part ?? "");
  const isPaged = Buffer.from(content.buffer, content.byteOffset, content.byteLength).includes(pageBreak);
  if (isPaged) outline.page(1);
  const aside = asideOf(part);
  const insert = (id: string) => outlineInserted(file, byId.get(id)?.part ?? "", outline);
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

/** A document of another format that stands in a text document, and becomes a part of it when it is next saved. */
function outlineInserted(file: OfficeFile, part: string, outline: Outline): void {
  const content = file.read(part);
  if (content === null) return;
  const ending = part.slice(part.lastIndexOf(".") + 1).toLowerCase();
  if (/^x?html?$/.test(ending)) parseHtml(content, outline);
  else if (ending === "rtf") parseRtf(content, outline);
  else if (/^mht(?:ml)?$/.test(ending)) parseEml(content, outline);
  else if (ending === "txt") outline.block(decodeText(content));
  else outline.block(`[A document within this one was not read: ${part.slice(part.lastIndexOf("/") + 1)}]`);
}

/** Heads and feet of pages, once and behind the text, where there is more in them than the page's number. */
function outlineEdges(file: OfficeFile, parts: readonly string[], outline: Outline): void {
  const texts = parts.flatMap((part) => {
    const content = file.read(part);
    const written = ["hdr", "ftr"].flatMap((name) => [...notesOf(content, name).values()]);
    return [...written.map(({ text }) => text), ...drawnIn(file, part)];
  });
  const worded = new Set(texts.filter(saysMore));
  if (worded.size > 0) outline.leave();
  for (const text of worded) outline.block(text);
}
