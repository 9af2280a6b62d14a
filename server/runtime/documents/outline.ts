import type { DocumentReport, WarningCode } from "../../domain/document-report.ts";
import { documentBounds } from "./bounds.ts";
import { type Place, type PlacedLine, placesOf } from "./boxes.ts";
import { cleanText } from "./decode.ts";
import { tooLarge } from "./document-error.ts";
import { openWarnings } from "./warnings.ts";

/** The text under one heading on one page: Markdown that begins with the heading's own line. */
export interface Section {
  text: string;
  /** Page number from 1; null if the format has no pages. */
  page: number | null;
  /** Path of headings, outermost first: "Guide › Install". */
  heading: string | null;
  /** Boxes of its text on the page in reading order, if known. */
  places?: readonly Place[];
  /** Text that was read from an image. */
  source?: "ocr";
  /** Code or settings: its lines are kept, also their indentation, and it has no Markdown. */
  isCode?: true;
}

const titleLimit = 120;

/** Collects a document's sections. Throws document_too_large above the text limit. */
export function openOutline() {
  const sections: Section[] = [];
  const path: { level: number; title: string }[] = [];
  let blocks: string[] = [];
  let places: Place[] = [];
  let length = 0;
  let page: number | null = null;
  let source: Pick<Section, "source" | "isCode"> = {};
  let [size, characters] = [0, 0];
  let encoding: string | null = null;
  const warnings = openWarnings();

  const heading = () =>
    path
      .map(({ title }) => title)
      .join(" › ")
      .slice(0, documentBounds.heading)
      .toWellFormed() || null;
  const flush = () => {
    const placed = places.length > 0 ? { places } : {};
    if (blocks.length > 0) sections.push({ text: blocks.join("\n\n"), page, heading: heading(), ...placed, ...source });
    [blocks, places, length] = [[], [], 0];
  };
  const add = (text: string, placed: readonly Place[] = []) => {
    const bytes = Buffer.byteLength(text);
    if (size + bytes > documentBounds.text)
      throw tooLarge(`The document holds more than ${documentBounds.text} bytes of text.`);
    size += bytes;
    characters += text.length;
    blocks.push(text);
    for (const { at, box } of placed) places.push({ at: length + at, box });
    length += text.length + 2;
  };

  return {
    /** Starts a section with this heading: one line, or several with their places. */
    heading(level: number, title: string | readonly PlacedLine[]): void {
      const [text, placed] = typeof title === "string" ? [title, []] : [textOf(title), placesOf(title)];
      const line = cleanText(text).replace(/\s+/g, " ").trim();
      if (line === "") return;
      flush();
      while ((path.at(-1)?.level ?? 0) >= level) path.pop();
      path.push({ level, title: line.slice(0, titleLimit).toWellFormed() });
      add(`${"#".repeat(level)} ${line}`, placed);
    },
    /** Adds a block of lines that have boxes. */
    lines(lines: readonly PlacedLine[]): void {
      const clean = lines.map(({ text, box }) => ({ text: cleanText(text).replaceAll("\n", " "), box }));
      if (clean.some(({ text }) => text.trim() !== "")) add(textOf(clean), placesOf(clean));
    },
    block(text: string): void {
      const clean = cleanText(text).replace(/^\n+/, "").trimEnd();
      if (clean !== "") add(clean);
    },
    /** Adds code as a section of its own. */
    code(text: string): void {
      flush();
      const clean = cleanText(text)
        .replace(/^(?:[ \t]*\n)+/, "")
        .trimEnd();
      const before = source;
      source = { isCode: true };
      if (clean !== "") add(clean);
      flush();
      source = before;
    },
    /** Starts a page. The current headings stay in effect, unless `forgotten`. */
    page(number: number, { forgotten = false, isScan = false } = {}): void {
      if (number > documentBounds.pages) throw tooLarge(`The document has more than ${documentBounds.pages} pages.`);
      flush();
      page = number;
      source = isScan ? { source: "ocr" } : {};
      if (forgotten) path.length = 0;
    },
    /** Ends the headings of this level and below; without a level all, so that the next section has none. */
    leave(level = 1): void {
      flush();
      while ((path.at(-1)?.level ?? 0) >= level) path.pop();
    },
    /** Records a loss or a guess, on the current page if no other one is named. */
    warn: (code: WarningCode, message: string, at: number | null = page): void => warnings.add(code, message, at),
    /** Records the encoding of the document's text. The first one counts: later ones are those of its parts. */
    encodedAs(name: string): void {
      encoding ??= name;
    },
    report: (): DocumentReport => ({ characters, encoding, warnings: warnings.list() }),
    close(): Section[] {
      flush();
      return sections;
    },
  };
}

const textOf = (lines: readonly PlacedLine[]): string => lines.map(({ text }) => text).join("\n");

export type Outline = ReturnType<typeof openOutline>;
