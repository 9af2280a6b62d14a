import { decodeText } from "./decode.ts";
import { docxBody } from "./docx-body.ts";
import { createDocxNotes, notesOf } from "./docx-notes.ts";
import { listMarks } from "./docx-numbering.ts";
import { stylesOf } from "./docx-styles.ts";
import { drawingTexts, outlineDrawings } from "./drawing-text.ts";
import { isFlatPackage } from "./flat-package.ts";
import { createHiddenText, type HiddenText } from "./hidden-text.ts";
import { mainPart, type OfficeFile, openOffice } from "./office.ts";
import type { Outline } from "./outline.ts";
import { hasWords } from "./page-edges.ts";
import { parseHtml } from "./parse-html.ts";
import { parseMht } from "./parse-mht.ts";
import type { ParserOptions } from "./parse-options.ts";
import { parseRtf } from "./parse-rtf.ts";
import { openPartText } from "./part-outline.ts";
import { readXml } from "./xml.ts";

const pageBreak = "lastRenderedPageBreak";
/** Most documents within one another. */
const maxDepth = 3;

/**
 * Parses a text document: headings, numbered lists, tables, text boxes, notes and comments. Pages are those recorded
 * when it was last laid out. Returns their number, or null if none are recorded.
 */
export async function parseDocx(bytes: Uint8Array, outline: Outline, options: ParserOptions): Promise<number | null> {
  return (await readDocx(bytes, outline, options, 1))();
}

/** Reads the documents that a text document embeds. Returns the function that outputs it with them. */
async function readDocx(
  bytes: Uint8Array,
  outline: Outline,
  options: ParserOptions,
  depth: number,
): Promise<() => number | null> {
  const file = openOffice(bytes, outline);
  const main = mainPart(file, "word/document.xml");
  const byId = file.related(main);
  const related = [...byId.values()];
  const inserted = new Map<string, () => void>();
  for (const { type, part } of related) {
    if (type.toLowerCase() === "afchunk") inserted.set(part, await readInserted(file, part, outline, options, depth));
  }
  return () => {
    const content = file.need(main);
    const part = (type: string) => file.part(related.find((one) => one.type === type)?.part ?? "");
    const isPaged =
      depth === 1 && Buffer.from(content.buffer, content.byteOffset, content.byteLength).includes(pageBreak);
    if (isPaged) outline.page(1);
    const hiddenText = createHiddenText(outline, options.includeHidden);
    const aside = createDocxNotes(part, hiddenText);
    const insert = (id: string) => {
      const part = byId.get(id)?.part ?? "";
      inserted.get(part)?.();
      // Once only, so that few bytes do not stand for much text.
      inserted.delete(part);
    };
    const [styles, marks] = [stylesOf(part("styles")), listMarks(part("numbering"))];
    const body = docxBody(outline, { styles, marks, aside, hiddenText, isPaged, insert });
    readXml(content, body);
    outlineDrawings(file, main, outline);
    for (const text of aside.left()) outline.block(text);
    const edges = related.filter(({ type }) => type === "header" || type === "footer").map(({ part }) => part);
    outlineEdges(
      edges.flatMap((part) => edgeTexts(file, part, hiddenText)),
      outline,
    );
    hiddenText.warn();
    return isPaged ? body.pages() : null;
  };
}

/**
 * Reads an embedded document of another format (altChunk), which Word merges on the next save. Returns the function that
 * outputs it.
 */
async function readInserted(
  file: OfficeFile,
  part: string,
  outline: Outline,
  options: ParserOptions,
  depth: number,
): Promise<() => void> {
  const content = file.bytesOf(part);
  if (content === null) return () => {};
  const ending = part.slice(part.lastIndexOf(".") + 1).toLowerCase();
  const start = Buffer.from(content.buffer, content.byteOffset, Math.min(content.length, 2000)).toString("latin1");
  if ((start.startsWith("PK\x03\x04") || isFlatPackage(content)) && depth < maxDepth) {
    const output = await readDocx(content, outline, options, depth + 1);
    return () => void output();
  }
  if (/^mht(?:ml)?$/.test(ending) || /^mime-version:/im.test(start)) {
    const text = openPartText();
    await parseMht(content, text.outline, options);
    return () => text.writeTo(outline);
  }
  if (/^(?:\xef\xbb\xbf)?\s*\{\\rtf/.test(start)) return () => parseRtf(content, outline, options);
  if (/^x?html?$/.test(ending) || /^(?:\xef\xbb\xbf)?\s*<(?:!doctype\s+)?html\b/i.test(start))
    return () => parseHtml(content, outline, options);
  if (ending === "txt") return () => outline.block(decodeText(content));
  const name = part.slice(part.lastIndexOf("/") + 1);
  return () => {
    outline.block(`[A document within this one was not read: ${name}]`);
    outline.warn("part_unreadable", `A document within this one was not read: ${name}.`);
  };
}

function edgeTexts(file: OfficeFile, part: string, hiddenText: HiddenText): string[] {
  const notes = ["hdr", "ftr"].flatMap((name) => [...notesOf(file.part(part), name, hiddenText).values()]);
  return [...notes.map(({ text }) => text), ...drawingTexts(file, part)];
}

/** Outputs headers and footers once, after the text, unless they are only page numbers. */
export function outlineEdges(texts: readonly string[], outline: Outline): void {
  const worded = new Set(texts.filter(hasWords));
  if (worded.size > 0) outline.leave();
  for (const text of worded) outline.block(text);
}
