import { getDocumentProxy, getResolvedPDFJS } from "unpdf";
import { documentBounds } from "./bounds.ts";
import { DocumentError, tooLarge, unreadable } from "./document-error.ts";
import type { Outline } from "./outline.ts";
import { withoutFurniture } from "./pdf-furniture.ts";
import { hyphenatedWords, isContents, joinLines, type PdfLine, withoutLeaders } from "./pdf-lines.ts";

/** A PDF: the text of each page; lines that are set larger than the rest are headings. Gives how many pages there are. */
export async function parsePdf(bytes: Uint8Array, outline: Outline): Promise<number> {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(1024, bytes.length)).toString("latin1");
  if (!head.includes("%PDF-")) throw unreadable("It is no PDF.");
  const pdf = await open(bytes);
  if (pdf.numPages > documentBounds.pages) throw tooLarge(`It has more than ${documentBounds.pages} pages.`);
  const pages: PdfLine[][] = [];
  let [size, failed] = [0, 0];
  for (let number = 1; number <= pdf.numPages; number++) {
    const lines = await linesOf(pdf, number);
    if (lines === null) failed++;
    size += (lines ?? []).reduce((sum, { text }) => sum + text.length, 0);
    if (size > documentBounds.text) throw tooLarge(`It holds more than ${documentBounds.text} bytes of text.`);
    pages.push(lines ?? []);
  }
  if (failed === pages.length) throw unreadable("None of its pages can be read.");
  outlinePages(pages, outline);
  if (size === 0) throw new DocumentError("document_empty", noText);
  return pdf.numPages;
}

/** Loads what the first PDF would wait for. */
export const loadPdf = (): Promise<unknown> => getResolvedPDFJS();

const noText =
  "The PDF has no text layer: its pages are images. Text is not recognised in images; run it through OCR first.";

type Pdf = Awaited<ReturnType<typeof getDocumentProxy>>;

async function open(bytes: Uint8Array): Promise<Pdf> {
  try {
    return await getDocumentProxy(bytes, {
      verbosity: 0,
      disableFontFace: true,
      useSystemFonts: false,
      enableXfa: false,
    });
  } catch (error) {
    if (error instanceof Error && error.name === "PasswordException") {
      throw new DocumentError("document_encrypted", "The PDF needs a password.");
    }
    throw unreadable("It is no PDF that can be read.");
  }
}

/** Null: the page is damaged. The others are read all the same. */
async function linesOf(pdf: Pdf, number: number): Promise<PdfLine[] | null> {
  try {
    const page = await pdf.getPage(number);
    const { items } = await page.getTextContent();
    page.cleanup();
    return linesFrom(items.filter((item) => "str" in item));
  } catch {
    return null;
  }
}

interface Item {
  str: string;
  width: number;
  height: number;
  transform: number[];
  hasEOL: boolean;
}

function linesFrom(items: readonly Item[]): PdfLine[] {
  const lines: PdfLine[] = [];
  let held: Item[] = [];
  let above: { y: number; size: number } | null = null;
  const end = () => {
    const text = withoutLeaders(held.map(({ str }) => str).join(""));
    const parts = partsOf(held);
    const first = held.find(({ str }) => str.trim() !== "");
    held = [];
    if (!first) return;
    const [size, y] = [first.height, first.transform[5] ?? 0];
    const apart = above !== null && Math.abs(above.y - y) > 1.7 * Math.max(size, above.size);
    lines.push({ text, parts, size, apart });
    above = { y, size };
  };
  for (const item of items) {
    held.push(item);
    if (item.hasEOL) end();
  }
  end();
  return lines;
}

/** More room than this, in heights of the letters, is more than there is between words. */
const wide = 1.5;

/** What stands in a line, parted where there is wide room. */
function partsOf(items: readonly Item[]): string[] {
  const parts: string[] = [];
  let end: number | null = null;
  for (const { str, transform, width, height } of items) {
    if (str.trim() === "") continue;
    const x = transform[4] ?? 0;
    if (end === null || x - end > wide * height) parts.push(str);
    else parts.push(`${parts.pop()}${x - end > height / 10 ? " " : ""}${str}`);
    end = x + width;
  }
  return parts.map((part) => part.replace(/\s+/g, " ").trim());
}

const larger = 1.2;
const titleLimit = 200;

function outlinePages(all: readonly (readonly PdfLine[])[], outline: Outline): void {
  const body = bodySize(all.flat());
  const isTitle = ({ text, size }: PdfLine) => size >= larger * body && text.length <= titleLimit && !isContents(text);
  const pages = withoutFurniture(all, isTitle);
  const words = hyphenatedWords(pages);
  const levelOf = levelsOf(pages.flat().filter(isTitle));
  for (const [at, lines] of pages.entries()) {
    outline.page(at + 1);
    for (const group of groupsOf(lines, isTitle)) {
      const text = joinLines(
        group.map(({ text }) => text),
        words,
      );
      if (isTitle(group[0]!)) outline.heading(levelOf(group[0]!), text);
      else outline.block(text);
    }
  }
}

/** Lines that belong together: those of a paragraph, or of a title. */
function groupsOf(lines: readonly PdfLine[], isTitle: (line: PdfLine) => boolean): PdfLine[][] {
  const groups: PdfLine[][] = [];
  let before: PdfLine | undefined;
  for (const line of lines) {
    const goesOn = before && !line.apart && isTitle(before) === isTitle(line);
    if (goesOn && (!isTitle(line) || levelSize(line) === levelSize(before!))) groups.at(-1)!.push(line);
    else groups.push([line]);
    before = line;
  }
  return groups;
}

const levelSize = ({ size }: PdfLine): number => Math.round(size);

/** The larger, the higher. */
function levelsOf(titles: readonly PdfLine[]): (title: PdfLine) => number {
  const sizes = [...new Set(titles.map(levelSize))].sort((a, b) => b - a);
  return (title) => Math.min(6, sizes.indexOf(levelSize(title)) + 1);
}

/** The size that most of the letters have. */
function bodySize(lines: readonly PdfLine[]): number {
  const letters = new Map<number, number>();
  for (const line of lines) letters.set(levelSize(line), (letters.get(levelSize(line)) ?? 0) + line.text.length);
  return [...letters].reduce((most, one) => (one[1] > most[1] ? one : most), [0, 0])[0];
}
