import type { OdfBeside } from "./odf-beside.ts";
import type { OdfLists } from "./odf-lists.ts";
import type { OdfTables } from "./odf-tables.ts";
import type { Outline } from "./outline.ts";
import { markRaisedText } from "./raised.ts";

interface Paragraph {
  text: string;
  /** Null: no heading. */
  level: number | null;
  isHidden: boolean;
}

const newParagraph = (level: number | null = null): Paragraph => ({ text: "", level, isHidden: false });

interface OdfPlaces {
  lists: OdfLists;
  tables: OdfTables;
  beside: OdfBeside;
  /** Receives the text of a paragraph that a field hides. */
  skip(text: string): void;
}

export type OdfParagraphs = ReturnType<typeof odfParagraphs>;

/**
 * Outputs each paragraph in its place: a cell, a list, a slide title, after another paragraph, or under the last
 * heading.
 */
export function odfParagraphs(outline: Outline, { lists, tables, beside, skip }: OdfPlaces) {
  let paragraph = newParagraph();
  const outer: Paragraph[] = [];
  let items: string[] = [];
  // Texts of the frame that is the slide's title.
  let title: string[] | null = null;
  let lastHeading = "";

  const flush = () => {
    outline.block(items.join("\n"));
    items = [];
  };
  const flushBeside = () => {
    const texts = beside.take();
    if (texts.length > 0) flush();
    for (const text of texts) outline.block(text);
  };
  const put = ({ text: raw, level }: Paragraph) => {
    const text = markRaisedText(raw);
    if (beside.isOpen()) return beside.add(text.trim());
    const mark = text.trim() === "" ? "" : lists.mark();
    if (tables.isOpen()) return tables.addToCell(`${mark} ${text}`);
    if (title) title.push(text.trim());
    else if (level === null && lists.depth() > 0)
      items.push(`${"  ".repeat(lists.depth() - 1)}${mark} ${text}`.trimEnd());
    else {
      flush();
      if (level === null) outline.block(text);
      else {
        outline.heading(level, `${mark === "-" ? "" : mark} ${text}`);
        lastHeading = text;
      }
    }
    flushBeside();
  };
  return {
    isOpen: () => outer.length > 0,
    lastHeading: () => lastHeading,
    start(level: number | null = null): void {
      outer.push(paragraph);
      paragraph = newParagraph(level);
    },
    add(text: string): void {
      paragraph.text += text;
    },
    end(): void {
      const ended = paragraph;
      paragraph = outer.pop() ?? newParagraph();
      if (ended.isHidden) skip(ended.text);
      else put(ended);
    },
    /** Leaves out the open paragraph. */
    hide(): void {
      paragraph.isHidden = true;
    },
    startTitle(): void {
      title ??= [];
    },
    endTitle(): void {
      if (title) outline.heading(1, title.join(" "));
      title = null;
    },
    /** Outputs the list items collected so far. */
    flush,
    flushBeside,
  };
}
