import type { DocxNotes } from "./docx-notes.ts";
import type { ListMarks, ListPlace } from "./docx-numbering.ts";
import { type DocxStyles, isOn } from "./docx-styles.ts";
import { type HiddenText, quoteName } from "./hidden-text.ts";
import { drawnImageText, imageText } from "./image-text.ts";
import { addToCell, markdownTable } from "./markdown.ts";
import type { Outline } from "./outline.ts";
import { markRaisedText, raisedEnd, raisedStart } from "./raised.ts";
import { symbolText } from "./symbol-letters.ts";
import type { Attributes, XmlListener } from "./xml.ts";

/** Maximum columns that a cell may span. */
const maxColumnSpan = 63;

interface Paragraph {
  text: string;
  style: string;
  /** Null: the style decides. */
  level: number | null;
  list: Partial<ListPlace> | null;
  /** The marker of its list item, if the document has it. Null: it is counted. */
  mark: string | null;
}

/**
 * Elements that repeat or no longer belong to the text: fallbacks of drawings, the origin of moved text, earlier
 * properties, and page headers and footers, which are output apart.
 */
const ignoredElements = new Set(
  ["Fallback", "moveFrom", "hdr", "ftr"].concat(
    ["pPr", "rPr", "tblPr", "trPr", "tcPr", "sectPr", "tblGrid", "numbering"].map((name) => `${name}Change`),
  ),
);

/** Parts of a text document beside its main part. */
interface DocxContext {
  styles: DocxStyles;
  marks: ListMarks;
  aside: DocxNotes;
  hiddenText: HiddenText;
  /** True if the document records its pages. */
  isPaged: boolean;
  /** Reads the document with this id, which is embedded in place of a paragraph. */
  insert(id: string): void;
}

/** Reads the main part of a text document. */
export function docxBody(
  outline: Outline,
  { styles, marks, aside, hiddenText, isPaged, insert }: DocxContext,
): XmlListener & { pages(): number } {
  let paragraph = newParagraph();
  // Stack of open paragraphs: a text box has paragraphs within the one that it is anchored to.
  const outer: Paragraph[] = [];
  let [inRun, isRaised, reading] = [false, false, false];
  let [boxes, hidden] = [0, 0];
  let [pages, breaks] = [1, 0];
  let rows: string[][] = [];
  let tables = 0;
  let [span, isCovered] = [1, false];
  let list: string[] = [];
  const choices = { all: [] as string[], taken: 0 };
  // Notes and text boxes, which are output after the paragraph.
  let behind: string[] = [];
  // Text of the paragraph that is left out, and whether the run, its style, or the row of the table hides its text.
  let vanished = "";
  let [runHides, styleHides, rowHides] = [null, null, false] as [boolean | null, boolean | null, boolean];
  // Text of the open deletion, and whether each open annotation is one.
  let [deletions, deleted] = [0, ""];
  const annotations: ("deletion" | "comment" | null)[] = [];
  let lastHeading = "";

  const place = () => (isPaged ? `page ${pages}` : quoteName(lastHeading));
  const isVanished = () =>
    !hiddenText.isIncluded && (runHides ?? styleHides ?? styles.hidden.get(paragraph.style) ?? false);
  const flushVanished = () => {
    hiddenText.skip("text", vanished, place());
    vanished = "";
  };
  const endDeletion = () => {
    if (--deletions > 0) return;
    if (!hiddenText.isIncluded) hiddenText.skip("deletion", deleted, place());
    else if (deleted.trim() !== "") paragraph.text += `~~${deleted.trim()}~~`;
    deleted = "";
  };

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
    const { text: raw, style, level: own, list: listPlace, mark: ownMark } = paragraph;
    flushVanished();
    paragraph = outer.pop() ?? newParagraph();
    const text = markRaisedText(raw);
    const level = own ?? styles.headings.get(style) ?? 0;
    const itemPlace = text.trim() === "" ? null : placeIn(listPlace, styles.lists.get(style));
    const mark = itemPlace ? (ownMark ?? marks(itemPlace)) : "";
    if (tables > 0) return addToCell(rows, `${mark} ${text}`);
    if (boxes > 0) return void behind.push(text);
    if (itemPlace && level === 0) list.push(`${"  ".repeat(itemPlace.level)}${mark} ${text}`);
    else {
      flushList();
      if (level > 0) {
        outline.heading(level, mark === "-" ? text : `${mark} ${text}`);
        lastHeading = text;
      } else outline.block(text);
    }
    flushBehind();
    turnPages();
  };
  /** Starts a new page after the current paragraph, because paragraphs are not split. */
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
    if (deletions > 0) {
      deleted += ` ${note.text}`;
      return;
    }
    if (isVanished()) {
      vanished += ` ${note.text}`;
      return;
    }
    // The mark of a note is raised, but is no exponent.
    isRaised = false;
    paragraph.text += `${raisedEnd}${note.mark}`;
    behind.push(note.text);
  };
  // Notes and comments of Word 2003, which are within the paragraph.
  const notes: { mark: string; from: number }[] = [];
  const startNote = (mark: string) => {
    notes.push({ mark, from: behind.length });
    boxes++;
  };
  const endNote = () => {
    const { mark, from } = notes.pop() ?? { mark: "", from: behind.length };
    boxes = Math.max(0, boxes - 1);
    const text = behind.splice(from).join(" ").trim();
    if (text !== "") behind.push(mark + text);
  };
  const addImage = (description: string) => {
    if (description !== "") behind.push(description);
  };
  /** A cell that continues the one above or before it, which shows its text alone. */
  const cover = (attribute: Attributes) => {
    if (tables === 1) isCovered = attribute("val") !== "restart" && !hiddenText.isIncluded;
  };
  const startOf: Record<string, (attribute: Attributes) => void> = {
    t(attribute) {
      reading = true;
      // The marker of a list item, as Word 2003 stores it.
      const mark = inRun ? null : attribute("val");
      if (mark !== null) paragraph.mark = /[\p{L}\p{N}]/u.test(mark) ? mark : "-";
    },
    deltext() {
      reading = deletions > 0;
    },
    del() {
      deletions++;
    },
    // The tracked changes and comments of Word 2003.
    annotation(attribute) {
      const type = attribute("type") ?? "";
      const kind = /deletion/i.test(type) ? "deletion" : type === "Word.Comment" ? "comment" : null;
      annotations.push(kind);
      if (kind === "deletion") deletions++;
      if (kind === "comment") startNote(`> Comment${attribute("author") ? ` by ${attribute("author")}` : ""}: `);
    },
    footnote: () => startNote("Note: "),
    endnote: () => startNote("Note: "),
    p() {
      flushVanished();
      outer.push(paragraph);
      paragraph = newParagraph();
    },
    r() {
      [inRun, runHides, styleHides] = [true, null, null];
    },
    rstyle(attribute) {
      if (inRun) styleHides = styles.hidden.get(attribute("val") ?? "") ?? null;
    },
    vanish(attribute) {
      if (inRun) runHides = isOn(attribute);
    },
    hidden(attribute) {
      if (tables === 1) rowHides = isOn(attribute);
    },
    // Outside of a run, the element defines a tab stop.
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
    // A picture in the format before 2007 (VML).
    shape: (attribute) => addImage(imageText(attribute("alt"))),
    // Text along a path (WordArt).
    textpath(attribute) {
      paragraph.text += ` ${attribute("string") ?? ""} `;
    },
    // A drop-down form field: shows one of its entries.
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
    // Superscript of a formula.
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
    listpr() {
      paragraph.list ??= {};
    },
    ilfo(attribute) {
      if (paragraph.list) paragraph.list.list = attribute("val") ?? "0";
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
      if (tables === 1) rowHides = false;
    },
    tc() {
      if (tables === 1) rows.at(-1)?.push("");
      if (tables === 1) [span, isCovered] = [1, false];
    },
    vmerge: cover,
    hmerge: cover,
    gridspan(attribute) {
      if (tables === 1) span = Math.min(maxColumnSpan, Number(attribute("val")) || 1);
    },
  };
  const endOf: Record<string, () => void> = {
    t() {
      reading = false;
    },
    deltext() {
      reading = false;
    },
    del: endDeletion,
    annotation() {
      const kind = annotations.pop();
      if (kind === "deletion") endDeletion();
      if (kind === "comment") endNote();
    },
    footnote: () => endNote(),
    endnote: () => endNote(),
    tr() {
      if (tables !== 1 || !rowHides || hiddenText.isIncluded) return;
      hiddenText.skip("row", rows.pop()?.join(" ") ?? "", place());
    },
    r() {
      if (isRaised) paragraph.text += raisedEnd;
      [inRun, isRaised] = [false, false];
      [runHides, styleHides] = [null, null];
    },
    sup() {
      paragraph.text += raisedEnd;
    },
    ddlist() {
      paragraph.text += choices.all[choices.taken] ?? "";
    },
    // The bar of a fraction, output after its numerator.
    num() {
      paragraph.text += "/";
    },
    tc() {
      const row = rows.at(-1);
      if (tables === 1 && isCovered && row) hiddenText.skip("cell", row.splice(-1, 1, "").join(), place());
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
      if (ignoredElements.has(name)) hidden++;
      if (hidden === 0) ownProperty(startOf, name)?.(attribute);
    },
    close(name) {
      if (hidden === 0) ownProperty(endOf, name)?.();
      if (ignoredElements.has(name)) hidden--;
    },
    text(text) {
      if (!reading || hidden > 0) return;
      if (deletions > 0) deleted += text;
      else if (isVanished()) vanished += text;
      else paragraph.text += text;
    },
  };
}

const newParagraph = (): Paragraph => ({ text: "", style: "", level: null, list: null, mark: null });

/**
 * Returns the paragraph's own place in a list, else that of its style. Returns null if it is in none; list id "0" means
 * none.
 */
function placeIn(own: Partial<ListPlace> | null, ofStyle: ListPlace | undefined): ListPlace | null {
  if (!own && !ofStyle) return null;
  const place = { list: null, level: 0, ...ofStyle, ...own };
  return place.list === "0" ? null : place;
}

/**
 * Looks up an element's name, which comes from the document and may be that of an inherited property like
 * "constructor".
 */
const ownProperty = <T>(table: Record<string, T>, name: string): T | undefined => {
  const key = name.toLowerCase();
  return Object.hasOwn(table, key) ? table[key] : undefined;
};
