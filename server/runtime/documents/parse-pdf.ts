import { getDocumentProxy, getResolvedPDFJS } from "unpdf";
import { documentBounds, ocrBounds } from "./bounds.ts";
import type { Box, PlacedLine } from "./boxes.ts";
import { type CharacterMaps, loadCharacterMaps, openCharacterMaps } from "./character-maps.ts";
import { DocumentError, noTextInImages, OcrRequired, tooLarge, unreadable } from "./document-error.ts";
import type { Outline } from "./outline.ts";
import type { ParseOptions } from "./parse-options.ts";
import { annotationsOn } from "./pdf-annotations.ts";
import { withoutWarnings } from "./pdf-faults.ts";
import { removeFurniture } from "./pdf-furniture.ts";
import { type GlyphNames, openGlyphNames } from "./pdf-glyph-names.ts";
import type { PdfItem } from "./pdf-item.ts";
import { readItems } from "./pdf-items.ts";
import { hyphenatedWords, isContents, joinLines, linesFrom, type PdfLine } from "./pdf-lines.ts";
import { mayHaveLetters } from "./pdf-scan.ts";
import { mayContinue, type PdfTable, type TableHeader, tableLines, tablesIn } from "./pdf-tables.ts";
import { readScansHere } from "./read-scans.ts";
import type { Scans } from "./scans.ts";

/**
 * Parses a PDF: the text of each page, or OCR's if it has none. Lines in a larger font are headings.
 * Returns the number of pages. Throws OcrRequired if pages must be read by OCR first.
 */
export const parsePdf = (bytes: Uint8Array, outline: Outline, options: ScanOptions): Promise<number> =>
  withoutWarnings(() => readPdf(bytes, outline, options));

type ScanOptions = Pick<ParseOptions, "scans" | "ocr" | "onPages">;

async function readPdf(
  bytes: Uint8Array,
  outline: Outline,
  { scans: given, ocr, onPages }: ScanOptions,
): Promise<number> {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(1024, bytes.length)).toString("latin1");
  if (!head.includes("%PDF-")) throw unreadable("It is not a PDF.");
  const maps = openCharacterMaps();
  const glyphs = openGlyphNames();
  // PDF.js takes the bytes.
  const copy = ocr && bytes.slice();
  const pdf = await open(bytes, maps);
  if (pdf.numPages > documentBounds.pages) throw tooLarge(`It has more than ${documentBounds.pages} pages.`);
  const pages: PdfLine[][] = [];
  const annotations: PlacedLine[][] = [];
  const faults: (readonly string[])[] = [];
  const needed: number[] = [];
  let [size, failed] = [0, 0];
  for (let number = 1; number <= pdf.numPages; number++) {
    const page = await readPage(pdf, number, { maps, glyphs });
    if (page === null) failed++;
    const { lines, beside, faults: ofPage } = page ?? damagedPage;
    if (page && !given && !lines.some(hasLetter) && (await isScan(pdf, number))) needed.push(number);
    size += charactersOf([...lines, ...beside]);
    if (size > documentBounds.text) throw tooLarge(`It holds more than ${documentBounds.text} bytes of text.`);
    pages.push(lines);
    annotations.push(beside);
    faults.push(ofPage);
    onPages(number - needed.length, pdf.numPages);
  }
  if (failed === pages.length) throw unreadable("None of its pages can be read.");
  if (needed.length > 0 && !copy) throw new OcrRequired(needed, pdf.numPages);
  const order = { mime_type: "application/pdf", pages: needed };
  const scans = given ?? (ocr && copy && needed.length > 0 ? await readScansHere(copy, order, ocr) : noScans);
  for (const [page, paragraphs] of scans.read) {
    const found = charactersOf(paragraphs.flat());
    if (found > 0) [pages[page - 1], faults[page - 1]] = [[], []];
    size += found;
  }
  outlinePages({ pages, annotations, faults, scans }, outline);
  const note = noteOf(scans);
  if (note !== null) outline.block(note);
  if (size === 0 && faults.flat().length > 0) throw unreadable("Its fonts do not say which letters they show.");
  if (size === 0) throw new DocumentError("document_empty", noTextInImages);
  return pdf.numPages;
}

const noScans: Scans = { read: new Map(), left: [], lost: [] };

/** False if a line has only spaces, and letters of a font that does not name them. */
const hasLetter = ({ text }: PdfLine): boolean => /[^\p{C}\s]/u.test(text);

/** Loads PDF.js and its data in advance, so that the first PDF need not wait for it, and opens no file. */
export async function loadPdf(): Promise<void> {
  loadCharacterMaps();
  await getResolvedPDFJS();
}

/** Returns true if a page without text may have letters that OCR can read. */
async function isScan(pdf: Pdf, number: number): Promise<boolean> {
  const page = await pdf.getPage(number);
  const isLettered = await mayHaveLetters(page).catch(() => false);
  page.cleanup();
  return isLettered;
}

const charactersOf = (lines: readonly PlacedLine[]): number => lines.reduce((sum, { text }) => sum + text.length, 0);

/** Returns a note about pages for which there was no time. */
const noteOf = ({ left }: Scans): string | null =>
  left.length === 0
    ? null
    : `[${left.length} pages from page ${left[0]} on were not read: they have no text of their own.]`;

type Pdf = Awaited<ReturnType<typeof getDocumentProxy>>;

async function open(bytes: Uint8Array, maps: CharacterMaps): Promise<Pdf> {
  try {
    return await getDocumentProxy(bytes, {
      // Warnings, of which `hearSkipped` hears.
      verbosity: 1,
      disableFontFace: true,
      useSystemFonts: false,
      enableXfa: false,
      // Names of glyphs.
      fontExtraProperties: true,
      isOffscreenCanvasSupported: false,
      maxImageSize: ocrBounds.inputPixels,
      useWorkerFetch: false,
      BinaryDataFactory: maps.Factory,
    });
  } catch (error) {
    if (error instanceof Error && error.name === "PasswordException") {
      throw new DocumentError("document_encrypted", "The PDF needs a password.");
    }
    // Encrypted with certificates or for a vendor's own reader.
    if (error instanceof Error && /^un(?:known|supported) encryption/.test(error.message)) {
      throw new DocumentError("document_encrypted", "The PDF is encrypted in a way that needs more than a password.");
    }
    throw unreadable("It is not a readable PDF.");
  }
}

/** Knowledge of a document's fonts. */
interface PdfText {
  maps: CharacterMaps;
  glyphs: GlyphNames;
}

interface PdfPage {
  lines: PdfLine[];
  /** Form values and comments. */
  beside: PlacedLine[];
  /** Losses of its text, in words. */
  faults: readonly string[];
}

/** Returns the lines of a page and its annotations, or null if the page is damaged. Other pages are still read. */
async function readPage(pdf: Pdf, number: number, { maps, glyphs }: PdfText): Promise<PdfPage | null> {
  try {
    const page = await pdf.getPage(number);
    const boxOf = boxesOn(page.getViewport({ scale: 1 }));
    const { items, faults } = await readItems(page, maps, glyphs);
    const beside = await annotationsOn(page, boxOf);
    page.cleanup();
    return { lines: linesFrom(items, boxOf), beside, faults };
  } catch {
    return null;
  }
}

const damagedPage: PdfPage = { lines: [], beside: [], faults: ["The page is damaged: its text is missing."] };

type Viewport = ReturnType<Awaited<ReturnType<Pdf["getPage"]>>["getViewport"]>;

/** Returns the box of an item on the page as displayed, with its rotation. */
function boxesOn({ width, height, transform }: Viewport): (item: PdfItem) => Box {
  const shown = (x: number, y: number): [number, number] => {
    const [a = 1, b = 0, c = 0, d = 1, e = 0, f = 0] = transform as number[];
    return [fraction((a * x + c * y + e) / width), fraction((b * x + d * y + f) / height)];
  };
  return ({ transform, width, height, down }) => {
    const [a = 1, b = 0, , , x = 0, y = 0] = transform;
    const scale = Math.hypot(a, b) || 1;
    const [along, up] = [
      [a / scale, b / scale],
      [-b / scale, a / scale],
    ] as const;
    const sides = down === undefined ? [0, width] : [-width / 2, width / 2];
    // Descenders reach a fifth of the height below the baseline.
    const rises = down === undefined ? [-0.2 * height, 0.8 * height] : [-down, 0];
    const corners = sides.flatMap((right) =>
      rises.map((rise) => shown(x + right * along[0] + rise * up[0], y + right * along[1] + rise * up[1])),
    );
    const [xs, ys] = [corners.map(([left]) => left), corners.map(([, top]) => top)];
    return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
  };
}

const fraction = (value: number): number => Math.min(1, Math.max(0, Math.round(value * 10_000) / 10_000)) || 0;

const larger = 1.2;
const titleLimit = 200;

interface PdfPages {
  pages: readonly (readonly PdfLine[])[];
  /** Form values and comments of each page. */
  annotations: readonly (readonly PlacedLine[])[];
  /** Losses of the text of each page, in words. */
  faults: readonly (readonly string[])[];
  scans: Scans;
}

function outlinePages({ pages: all, annotations, faults, scans }: PdfPages, outline: Outline): void {
  const body = bodySize(all.flat());
  const isTitle = ({ text, size }: PdfLine) => size >= larger * body && text.length <= titleLimit && !isContents(text);
  const kept = removeFurniture(all, isTitle);
  // A document that has nothing else keeps its page numbers.
  const pages = kept.some((lines) => lines.length > 0) ? kept : all;
  const words = hyphenatedWords(pages);
  const levelOf = levelsOf(pages.flat().filter(isTitle));
  let header: TableHeader | null = null;
  let before: (PdfTable | PdfLine)[] = [];
  for (const [at, lines] of pages.entries()) {
    const scan = scans.read.get(at + 1) ?? [];
    outline.page(at + 1, { isScan: scan.length > 0 });
    for (const fault of faults[at] ?? []) outline.warn("text_unreadable", fault);
    if (scans.lost.includes(at + 1)) outline.warn("text_unreadable", "The text in the image could not be read.");
    for (const paragraph of scan) outline.lines(joinLines(paragraph, words));
    const found = tablesIn(lines, isTitle);
    let carried: TableHeader | null = mayContinue(before, found) ? header : null;
    header = null;
    for (const group of groupsOf(found, isTitle)) {
      if ("rows" in group) {
        const table = tableLines(group, carried);
        outline.lines(table.lines);
        [header, carried] = [table.header, null];
        continue;
      }
      const text = joinLines(group, words);
      const [first] = group;
      if (first && isTitle(first)) outline.heading(levelOf(first), text);
      else outline.lines(text);
    }
    for (const line of annotations[at] ?? []) outline.lines([line]);
    before = found;
  }
}

/** Groups lines into paragraphs and titles. */
function groupsOf(
  found: readonly (PdfTable | PdfLine)[],
  isTitle: (line: PdfLine) => boolean,
): (PdfTable | PdfLine[])[] {
  const groups: (PdfTable | PdfLine[])[] = [];
  for (const one of found) {
    const group = groups.at(-1);
    const before = Array.isArray(group) ? group.at(-1) : undefined;
    if ("rows" in one) groups.push(one);
    else if (before && continues(before, one, isTitle)) (group as PdfLine[]).push(one);
    else groups.push([one]);
  }
  return groups;
}

function continues(before: PdfLine, line: PdfLine, isTitle: (line: PdfLine) => boolean): boolean {
  if (line.hasGapAbove || isTitle(before) !== isTitle(line)) return false;
  return !isTitle(line) || levelSize(line) === levelSize(before);
}

const levelSize = ({ size }: PdfLine): number => Math.round(size);

/** Assigns heading levels by font size: the largest is level 1. */
function levelsOf(titles: readonly PdfLine[]): (title: PdfLine) => number {
  const sizes = [...new Set(titles.map(levelSize))].sort((a, b) => b - a);
  return (title) => Math.min(6, sizes.indexOf(levelSize(title)) + 1);
}

/** Returns the font size of most characters. */
function bodySize(lines: readonly PdfLine[]): number {
  const letters = new Map<number, number>();
  for (const line of lines) letters.set(levelSize(line), (letters.get(levelSize(line)) ?? 0) + line.text.length);
  return [...letters].reduce((most, one) => (one[1] > most[1] ? one : most), [0, 0])[0];
}
