import type { Aside } from "./docx-notes.ts";
import type { ListMarks, ListPlace } from "./docx-numbering.ts";
import type { DocxStyles } from "./docx-styles.ts";
import { drawnImageText, imageText } from "./image-text.ts";
import { addToCell, markdownTable } from "./markdown.ts";
import type { Outline } from "./outline.ts";
import { raisedEnd, raisedStart, withRaised } from "./raised.ts";
import { symbolText } from "./symbol-letters.ts";
import type { Attributes, XmlListener } from "./xml.ts";

/** Columns that a cell may reach over. */
const widest = 63;

interface Paragraph {
  text: string;
  style: string;
  /** Null: what its style says. */
  level: number | null;
  list: Partial<ListPlace> | null;
}

/** What a drawing shows once more for those who cannot draw it, and what was moved to elsewhere. */
const unseen = new Set(["Fallback", "moveFrom"]);

/** What a text document has beside its main part. */
interface DocxAround {
  styles: DocxStyles;
  marks: ListMarks;
  aside: Aside;
  /** Reads the document of this id that stands in place of a paragraph. */
  insert(id: string): void;
}

/** Reads the main part of a text document. */
export function docxBody(
  outline: Outline,
  { styles, marks, aside, insert }: DocxAround,
): XmlListener & { pages(): number } {
  let paragraph = newParagraph();
  // A text box has paragraphs within the one that it is tied to.
  const outer: Paragraph[] = [];
  let [inRun, isRaised, reading] = [false, false, false];
  let [boxes, hidden] = [0, 0];
  let [pages, breaks] = [1, 0];
  let rows: string[][] = [];
  let tables = 0;
  let span = 1;
  let list: string[] = [];
  const choices = { all: [] as string[], taken: 0 };
  // Notes and text boxes, which stand behind the paragraph.
  let behind: string[] = [];

  const flushList = () => {
    outline.block(list.join("\n"));
    list = [];
  };
  const flushBehind = () => {
    if (behind.length > 0) flushList();
    for (const text of behind) outline.block(text);
    behind = [];
  };
  const endParagraph = () => {
    const { text: raw, style, level: own, list: given } = paragraph;
    paragraph = outer.pop() ?? newParagraph();
    const text = withRaised(raw);
    const level = own ?? styles.headings.get(style) ?? 0;
    const place = text.trim() === "" ? null : placeIn(given, styles.lists.get(style));
    const mark = place ? marks(place) : "";
    if (tables > 0) return addToCell(rows, `${mark} ${text}`);
    if (boxes > 0) return void behind.push(text);
    if (place && level === 0) list.push(`${"  ".repeat(place.level)}${mark} ${text}`);
    else {
      flushList();
      if (level > 0) outline.heading(level, mark === "-" ? text : `${mark} ${text}`);
      else outline.block(text);
    }
    flushBehind();
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
    if (boxes > 0) return;
    flushBehind();
    turnPages();
  };
  const addNote = (note: { mark: string; text: string } | null) => {
    if (!note) return;
    // It is raised, and no power.
    isRaised = false;
    paragraph.text += `${raisedEnd}${note.mark}`;
    behind.push(note.text);
  };
  const addImage = (said: string) => {
    if (said !== "") behind.push(said);
  };
  const startOf: Record<string, (attribute: Attributes) => void> = {
    t() {
      reading = true;
    },
    p() {
      outer.push(paragraph);
      paragraph = newParagraph();
    },
    r() {
      inRun = true;
    },
    // Outside of a run it is a place where one stops.
    tab() {
      if (inRun) paragraph.text += "\t";
    },
    ptab() {
      paragraph.text += "\t";
    },
    br() {
      paragraph.text += "\n";
    },
    cr() {
      paragraph.text += "\n";
    },
    nobreakhyphen() {
      paragraph.text += "-";
    },
    sym(attribute) {
      paragraph.text += symbolText(attribute);
    },
    vertalign(attribute) {
      isRaised = inRun && attribute("val") === "superscript";
      if (isRaised) paragraph.text += raisedStart;
    },
    docpr: (attribute) => addImage(drawnImageText(attribute)),
    // A picture as it was before 2007.
    shape: (attribute) => addImage(imageText(attribute("alt"))),
    // Letters along a line.
    textpath(attribute) {
      paragraph.text += ` ${attribute("string") ?? ""} `;
    },
    // A field of a form: it shows one of its entries.
    ddlist() {
      Object.assign(choices, { all: [], taken: 0 });
    },
    result(attribute) {
      choices.taken = Number(attribute("val")) || 0;
    },
    listentry(attribute) {
      choices.all.push(attribute("val") ?? "");
    },
    altchunk(attribute) {
      flushList();
      insert(attribute("id", true) ?? "");
    },
    // Of a formula.
    sup() {
      paragraph.text += raisedStart;
    },
    txbxcontent() {
      boxes++;
    },
    footnotereference: (attribute) => addNote(aside.note("footnote", attribute("id"))),
    endnotereference: (attribute) => addNote(aside.note("endnote", attribute("id"))),
    commentreference: (attribute) => addNote(aside.comment(attribute("id"))),
    lastrenderedpagebreak() {
      breaks++;
      if (paragraph.text.trim() === "" && boxes === 0) turnPages();
    },
    pstyle(attribute) {
      paragraph.style = attribute("val") ?? "";
    },
    outlinelvl(attribute) {
      paragraph.level = (Number(attribute("val")) + 1) % 10;
    },
    numpr() {
      paragraph.list ??= {};
    },
    ilvl(attribute) {
      if (paragraph.list) paragraph.list.level = Math.min(8, Math.max(0, Math.floor(Number(attribute("val"))) || 0));
    },
    numid(attribute) {
      if (paragraph.list) paragraph.list.list = attribute("val") ?? "0";
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
    t() {
      reading = false;
    },
    r() {
      if (isRaised) paragraph.text += raisedEnd;
      [inRun, isRaised] = [false, false];
    },
    sup() {
      paragraph.text += raisedEnd;
    },
    ddlist() {
      paragraph.text += choices.all[choices.taken] ?? "";
    },
    // Of a fraction.
    num() {
      paragraph.text += "/";
    },
    tc() {
      if (tables === 1) for (; span > 1; span--) rows.at(-1)?.push("");
    },
    txbxcontent() {
      boxes--;
    },
    p: endParagraph,
    tbl: endTable,
    body: flushList,
  };
  return {
    pages: () => pages,
    open(name, attribute) {
      if (unseen.has(name)) hidden++;
      if (hidden === 0) ownOf(startOf, name)?.(attribute);
    },
    close(name) {
      if (hidden === 0) ownOf(endOf, name)?.();
      if (unseen.has(name)) hidden--;
    },
    text(text) {
      if (reading && hidden === 0) paragraph.text += text;
    },
  };
}

const newParagraph = (): Paragraph => ({ text: "", style: "", level: null, list: null });

/** The paragraph's own place in a list, else that of its style; null: in none, as a list of the number 0 also says. */
function placeIn(own: Partial<ListPlace> | null, ofStyle: ListPlace | undefined): ListPlace | null {
  if (!own && !ofStyle) return null;
  const place = { list: null, level: 0, ...ofStyle, ...own };
  return place.list === "0" ? null : place;
}

/** By the name of an element, which may be anything: also that of something every object has. */
const ownOf = <T>(table: Record<string, T>, name: string): T | undefined => {
  const key = name.toLowerCase();
  return Object.hasOwn(table, key) ? table[key] : undefined;
};
