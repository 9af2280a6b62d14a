import { documentBounds } from "./bounds.ts";
import { cleanText } from "./decode.ts";
import { tooLarge } from "./document-error.ts";

/** What stands under one heading, on one page: Markdown that begins with the heading's own line. */
export interface Section {
  text: string;
  /** From 1; null where the format has no pages. */
  page: number | null;
  /** The headings above it, outermost first: "Guide › Install". */
  heading: string | null;
}

const titleLimit = 120;

/** Gathers a document as sections, and ends it when it is more text than we take. */
export function openOutline() {
  const sections: Section[] = [];
  const path: { level: number; title: string }[] = [];
  let blocks: string[] = [];
  let page: number | null = null;
  let size = 0;

  const heading = () =>
    path
      .map(({ title }) => title)
      .join(" › ")
      .slice(0, documentBounds.heading)
      .toWellFormed() || null;
  const flush = () => {
    if (blocks.length > 0) sections.push({ text: blocks.join("\n\n"), page, heading: heading() });
    blocks = [];
  };
  const add = (text: string) => {
    size += Buffer.byteLength(text);
    if (size > documentBounds.text)
      throw tooLarge(`The document holds more than ${documentBounds.text} bytes of text.`);
    blocks.push(text);
  };

  return {
    heading(level: number, title: string): void {
      const line = cleanText(title).replace(/\s+/g, " ").trim();
      if (line === "") return;
      flush();
      while ((path.at(-1)?.level ?? 0) >= level) path.pop();
      path.push({ level, title: line.slice(0, titleLimit).toWellFormed() });
      add(`${"#".repeat(level)} ${line}`);
    },
    block(text: string): void {
      const clean = cleanText(text).replace(/^\n+/, "").trimEnd();
      if (clean !== "") add(clean);
    },
    /** What follows is on this page. The headings above it go on, unless they are `forgotten`. */
    page(number: number, forgotten = false): void {
      if (number > documentBounds.pages) throw tooLarge(`The document has more than ${documentBounds.pages} pages.`);
      flush();
      page = number;
      if (forgotten) path.length = 0;
    },
    /** What follows is under no heading. */
    leave(): void {
      flush();
      path.length = 0;
    },
    close(): Section[] {
      flush();
      return sections;
    },
  };
}

export type Outline = ReturnType<typeof openOutline>;
