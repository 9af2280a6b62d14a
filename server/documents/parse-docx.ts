import { markdownTable } from "./markdown.ts";
import { type OfficeFile, openOffice } from "./office.ts";
import type { Outline } from "./outline.ts";
import { type Attributes, readXml, type XmlListener } from "./xml.ts";

const main = "word/document.xml";

/**
 * A text document: paragraphs under their headings, lists, tables and footnotes. Its pages are those of its last print,
 * where it tells of one. Gives how many those are.
 */
export function parseDocx(bytes: Uint8Array, outline: Outline): number | null {
  const file = openOffice(bytes);
  const content = file.need(main);
  const related = [...file.related(main).values()];
  const part = (type: string) => file.read(related.find((one) => one.type === type)?.part ?? "");
  const styles = stylesOf(part("styles"));
  const isPaged = Buffer.from(content.buffer, content.byteOffset, content.byteLength).includes(pageBreak);
  if (isPaged) outline.page(1);
  const body = bodyReader(outline, styles);
  readXml(content, body);
  for (const notes of [part("footnotes"), part("endnotes")]) if (notes) readXml(notes, bodyReader(outline, styles));
  return isPaged ? body.pages() : null;
}

const pageBreak = "lastRenderedPageBreak";

/** What styles of paragraphs stand for, by their ids. */
interface Styles {
  headings: Map<string, number>;
  lists: Set<string>;
}

function stylesOf(content: ReturnType<OfficeFile["read"]>): Styles {
  const [headings, lists] = [new Map<string, number>(), new Set<string>()];
  let style = "";
  if (content === null) return { headings, lists };
  readXml(content, {
    open(name, attribute) {
      if (name === "style") style = attribute("styleId") ?? "";
      const value = attribute("val") ?? "";
      if (name === "name" && /^title$/i.test(value)) headings.set(style, 1);
      const level = /^heading ([1-6])$/i.exec(value)?.[1];
      if (name === "name" && level) headings.set(style, Number(level));
      if (name === "outlineLvl" && Number(value) < 6) headings.set(style, Number(value) + 1);
      if (name === "numPr") lists.add(style);
    },
  });
  return { headings, lists };
}

/** Columns that a cell may reach over. */
const widest = 63;

interface Paragraph {
  text: string;
  level: number;
  bullet: string;
}

function bodyReader(outline: Outline, { headings, lists }: Styles): XmlListener & { pages(): number } {
  let paragraph: Paragraph = { text: "", level: 0, bullet: "" };
  let [inRun, reading] = [false, false];
  let [pages, breaks] = [1, 0];
  // What a drawing shows once more for those who cannot draw it.
  let hidden = 0;
  let rows: string[][] = [];
  let tables = 0;
  let span = 1;
  let list: string[] = [];

  const flushList = () => {
    outline.block(list.join("\n"));
    list = [];
  };
  const endParagraph = () => {
    const { text, level, bullet } = paragraph;
    paragraph = { text: "", level: 0, bullet: "" };
    if (tables > 0) return addToCell(rows, text);
    if (bullet !== "" && level === 0 && text.trim() !== "") list.push(bullet + text);
    else {
      flushList();
      if (level > 0) outline.heading(level, text);
      else outline.block(text);
    }
    turnPages();
  };
  /** A page begins with a whole paragraph, or behind it. */
  const turnPages = () => {
    if (breaks === 0 || tables > 0) return;
    flushList();
    pages += breaks;
    breaks = 0;
    outline.page(pages);
  };
  const endTable = () => {
    if (--tables > 0 || rows.length === 0) return;
    flushList();
    outline.block(markdownTable(rows));
    rows = [];
    turnPages();
  };
  const startOf: Record<string, (attribute: Attributes) => void> = {
    fallback() {
      hidden++;
    },
    t() {
      reading = hidden === 0;
    },
    r() {
      inRun = true;
    },
    // Outside of a run it is a place where one stops.
    tab() {
      if (inRun) paragraph.text += "\t";
    },
    br() {
      paragraph.text += "\n";
    },
    nobreakhyphen() {
      paragraph.text += "-";
    },
    lastrenderedpagebreak() {
      breaks++;
      if (paragraph.text.trim() === "") turnPages();
    },
    pstyle(attribute) {
      const style = attribute("val") ?? "";
      paragraph.level = headings.get(style) ?? 0;
      if (lists.has(style)) paragraph.bullet = "- ";
    },
    outlinelvl(attribute) {
      paragraph.level = (Number(attribute("val")) + 1) % 10;
    },
    ilvl(attribute) {
      paragraph.bullet = `${"  ".repeat(Math.min(8, Number(attribute("val")) || 0))}- `;
    },
    numpr() {
      paragraph.bullet ||= "- ";
    },
    tbl() {
      tables++;
    },
    tr() {
      if (tables === 1) rows.push([]);
    },
    tc() {
      if (tables === 1) rows.at(-1)?.push("");
      if (tables === 1) span = 1;
    },
    gridspan(attribute) {
      if (tables === 1) span = Math.min(widest, Number(attribute("val")) || 1);
    },
  };
  const endOf: Record<string, () => void> = {
    fallback() {
      hidden--;
    },
    t() {
      reading = false;
    },
    r() {
      inRun = false;
    },
    tc() {
      if (tables === 1) for (; span > 1; span--) rows.at(-1)?.push("");
    },
    p: endParagraph,
    tbl: endTable,
    body: flushList,
  };
  return {
    pages: () => pages,
    open: (name, attribute) => own(startOf, name)?.(attribute),
    close: (name) => own(endOf, name)?.(),
    text(text) {
      if (reading) paragraph.text += text;
    },
  };
}

/** By the name of an element, which may be anything: also that of something every object has. */
const own = <T>(table: Record<string, T>, name: string): T | undefined => {
  const key = name.toLowerCase();
  return Object.hasOwn(table, key) ? table[key] : undefined;
};

function addToCell(rows: string[][], text: string): void {
  const row = rows.at(-1);
  if (row && row.length > 0 && text.trim() !== "") row.push(`${row.pop()} ${text}`.trim());
}
