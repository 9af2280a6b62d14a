import { docxBody } from "./docx-body.ts";
import { asideOf, notesOf } from "./docx-notes.ts";
import { listMarks } from "./docx-numbering.ts";
import { stylesOf } from "./docx-styles.ts";
import { outlineDrawings } from "./drawing-text.ts";
import { openOffice } from "./office.ts";
import type { Outline } from "./outline.ts";
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
  const related = [...file.related(main).values()];
  const part = (type: string) => file.read(related.find((one) => one.type === type)?.part ?? "");
  const isPaged = Buffer.from(content.buffer, content.byteOffset, content.byteLength).includes(pageBreak);
  if (isPaged) outline.page(1);
  const aside = asideOf(part);
  const body = docxBody(outline, { styles: stylesOf(part("styles")), marks: listMarks(part("numbering")), aside });
  readXml(content, body);
  outlineDrawings(file, main, outline);
  for (const text of aside.left()) outline.block(text);
  const edges = related.filter(({ type }) => type === "header" || type === "footer");
  outlineEdges(
    edges.map(({ part }) => file.read(part)),
    outline,
  );
  return isPaged ? body.pages() : null;
}

/** Heads and feet of pages, once and behind the text, where there is more in them than the page's number. */
function outlineEdges(parts: readonly (Uint8Array | null)[], outline: Outline): void {
  const texts = parts.flatMap((part) => ["hdr", "ftr"].flatMap((name) => [...notesOf(part, name).values()]));
  const worded = new Set(texts.map(({ text }) => text).filter((text) => /\p{L}{2}/u.test(text)));
  if (worded.size > 0) outline.leave();
  for (const text of worded) outline.block(text);
}
