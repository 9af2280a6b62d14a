import { imageText } from "./image-text.ts";
import { listNumber } from "./list-numbers.ts";
import { markdownTable } from "./markdown.ts";
import { type OdfStyles, readOdfStyle } from "./odf-styles.ts";
import type { Outline } from "./outline.ts";
import { raisedEnd, raisedStart, withRaised } from "./raised.ts";
import type { Attributes, XmlListener } from "./xml.ts";

/** What is no text of the document, or was deleted. */
const unseen = new Set([
  "tracked-changes",
  "forms",
  "page-number",
  "page-count",
  "note-citation",
  "dc:date",
  "creator-initials",
]);
/** Elements that share their names with fields of a text. */
const prefixed = new Set(["dc:date", "dc:creator", "svg:title", "svg:desc"]);
const nameOf = (name: string, prefix: string): string =>
  prefixed.has(`${prefix}:${name}`) ? `${prefix}:${name}` : name;
/** Cells and rows that an element may stand for. */
const repeatedMost = 100;

interface Paragraph {
  text: string;
  /** Null: no heading. */
  level: number | null;
}

/**
 * Reads the content of a text document, a workbook or a presentation. Objects in it are told by their names, and what
 * many slides show by its text.
 */
export function odfBody(
  outline: Outline,
  styles: OdfStyles,
  { addObject, addEdge }: { addObject(name: string): void; addEdge(text: string): void },
): XmlListener & { slides(): number } {
  let paragraph: Paragraph = { text: "", level: null };
  const outer: Paragraph[] = [];
  let [inBody, hidden, slides, notes] = [false, 0, 0, 0];
  // Of a slide's frames: whether it is the title.
  let [isTitle, title] = [false, [] as string[]];
  let behind: string[] = [];
  let tables = 0;
  // Text boxes, notes and comments: where each begins in what stands behind the paragraph, and what stands before it.
  const beside: { from: number; mark: string }[] = [];
  let rows: string[][] = [];
  let [cell, repeated, rowRepeated] = ["", 1, 1];
  const lists: { style: string; marked: boolean }[] = [];
  const counts = new Map<string, number[]>();
  let items: string[] = [];
  const spans: boolean[] = [];
  let creator = "";
  let reading: "text" | "creator" | "image" | "edge" = "text";
  let [image, edge] = [[] as string[], ""];

  const flushItems = () => {
    outline.block(items.join("\n"));
    items = [];
  };
  const flushBehind = () => {
    if (behind.length > 0) flushItems();
    for (const text of behind) outline.block(text);
    behind = [];
  };
  const markOf = (): string => {
    const list = lists.at(-1);
    if (!list || list.marked) return "";
    list.marked = true;
    const { number, prefix = "", suffix = "", start = 1 } = styles.lists.get(list.style)?.[lists.length - 1] ?? {};
    if (number === undefined) return "-";
    const count = counts.get(list.style) ?? [];
    counts.set(list.style, count);
    count[lists.length - 1] = (count[lists.length - 1] ?? start - 1) + 1;
    count.length = lists.length;
    return `${prefix}${listNumber(count[lists.length - 1]!, number)}${suffix}`;
  };
  const endParagraph = () => {
    const { text: raw, level } = paragraph;
    paragraph = outer.pop() ?? { text: "", level: null };
    const text = withRaised(raw);
    if (beside.length > 0) {
      if (text.trim() !== "") behind.push(text.trim());
      return;
    }
    const mark = text.trim() === "" ? "" : markOf();
    if (tables > 0) cell = `${cell} ${mark} ${text}`.trim();
    else if (isTitle) title.push(text.trim());
    else if (level !== null) {
      flushItems();
      outline.heading(level, `${mark === "-" ? "" : mark} ${text}`);
    } else if (lists.length > 0) items.push(`${"  ".repeat(lists.length - 1)}${mark} ${text}`.trimEnd());
    else {
      flushItems();
      outline.block(text);
    }
    if (tables === 0) flushBehind();
  };
  const endBeside = () => {
    const { from = 0, mark = "" } = beside.pop() ?? {};
    const texts = behind.splice(from);
    if (mark === "") behind.push(...texts);
    else behind.push(mark + texts.join(" "));
  };
  const endRow = () => {
    const row = rows.at(-1) ?? [];
    while (row.at(-1) === "") row.pop();
    if (row.length === 0) rows.pop();
    else for (let left = rowRepeated; left > 1; left--) rows.push([...row]);
  };
  const startEdge = () => {
    edge = "";
    reading = "edge";
  };
  const endEdge = () => {
    reading = "text";
    addEdge(edge);
  };
  const startOf: Record<string, (attribute: Attributes) => void> = {
    p() {
      outer.push(paragraph);
      paragraph = { text: "", level: null };
    },
    h(attribute) {
      outer.push(paragraph);
      paragraph = { text: "", level: Math.min(6, Math.max(1, Number(attribute("outline-level")) || 1)) };
    },
    s(attribute) {
      paragraph.text += " ".repeat(Math.min(100, Number(attribute("c")) || 1));
    },
    tab() {
      paragraph.text += "\t";
    },
    "line-break"() {
      paragraph.text += "\n";
    },
    span(attribute) {
      const raised = styles.raised.has(attribute("style-name") ?? "");
      spans.push(raised);
      if (raised) paragraph.text += raisedStart;
    },
    list(attribute) {
      const style = attribute("style-name") ?? lists.at(-1)?.style ?? "";
      const goesOn = attribute("continue-numbering") === "true" || attribute("continue-list") !== null;
      if (lists.length === 0 && !goesOn) counts.delete(style);
      lists.push({ style, marked: true });
    },
    "list-item"() {
      if (lists.length > 0) lists.at(-1)!.marked = false;
    },
    note() {
      paragraph.text += `[^${++notes}]`;
      beside.push({ from: behind.length, mark: `[^${notes}]: ` });
    },
    annotation() {
      creator = "";
      beside.push({ from: behind.length, mark: "> Comment: " });
    },
    "dc:creator"() {
      reading = "creator";
    },
    "svg:title"() {
      image.push("");
      reading = "image";
    },
    "svg:desc"() {
      image.push("");
      reading = "image";
    },
    "header-decl": startEdge,
    "footer-decl": startEdge,
    // What is drawn upon a sheet stands before its cells.
    shapes() {
      beside.push({ from: behind.length, mark: "" });
    },
    "text-box"() {
      // That of a slide is tied to no paragraph.
      if (outer.length > 0) beside.push({ from: behind.length, mark: "" });
    },
    frame(attribute) {
      isTitle = attribute("class") === "title";
    },
    object(attribute) {
      const name = /^\.\/([^/]{1,100})$/.exec(attribute("href") ?? "")?.[1];
      if (name) addObject(name);
    },
    page() {
      flushItems();
      outline.page(++slides, { forgotten: true });
    },
    table(attribute) {
      flushItems();
      if (++tables > 1) return;
      rows = [];
      if (styles.isWorkbook) outline.heading(1, attribute("name") ?? "");
    },
    "table-row"(attribute) {
      if (tables !== 1) return;
      rows.push([]);
      rowRepeated = Math.min(repeatedMost, Number(attribute("number-rows-repeated")) || 1);
    },
    "table-cell"(attribute) {
      if (tables !== 1) return;
      const formula = /^(?:\w+:)?(=.*)$/s.exec(attribute("formula") ?? "")?.[1];
      cell = formula && attribute("value-type") === null ? formula : "";
      repeated = Math.min(repeatedMost, Number(attribute("number-columns-repeated")) || 1);
    },
    "covered-table-cell"(attribute) {
      this["table-cell"]!(attribute);
    },
  };
  const endOf: Record<string, () => void> = {
    p: endParagraph,
    h: endParagraph,
    span() {
      if (spans.pop()) paragraph.text += raisedEnd;
    },
    list() {
      lists.pop();
    },
    note: endBeside,
    annotation: endBeside,
    "svg:title"() {
      reading = "text";
    },
    "svg:desc"() {
      reading = "text";
    },
    "header-decl": endEdge,
    "footer-decl": endEdge,
    shapes: endBeside,
    "dc:creator"() {
      reading = "text";
      const note = beside.at(-1);
      if (note?.mark === "> Comment: ") note.mark = `> Comment by ${creator}: `;
    },
    "text-box"() {
      if (outer.length > 0) endBeside();
    },
    frame() {
      const said = imageText(...image);
      image = [];
      if (said !== "") behind.push(said);
      if (said !== "" && outer.length === 0 && tables === 0) flushBehind();
      if (isTitle) outline.heading(1, title.join(" "));
      [isTitle, title] = [false, []];
    },
    page: flushItems,
    table() {
      if (--tables > 0) return;
      const shown = rows.filter((row) => row.some((value) => value !== ""));
      if (shown.length > 0) outline.block(markdownTable(shown));
      flushBehind();
    },
    "table-row"() {
      if (tables === 1) endRow();
    },
    "table-cell"() {
      if (tables === 1) for (; repeated > 0; repeated--) rows.at(-1)?.push(cell);
    },
    "covered-table-cell"() {
      this["table-cell"]!();
    },
    body: flushItems,
  };
  return {
    slides: () => slides,
    open(local, attribute, prefix) {
      const name = nameOf(local, prefix);
      if (name === "body") inBody = true;
      if (!inBody) return readOdfStyle(styles, name, attribute);
      if (unseen.has(name)) hidden++;
      if (hidden === 0 && Object.hasOwn(startOf, name)) startOf[name]!(attribute);
    },
    close(local, prefix) {
      const name = nameOf(local, prefix);
      if (hidden === 0 && inBody && Object.hasOwn(endOf, name)) endOf[name]!();
      if (inBody && unseen.has(name)) hidden--;
    },
    text(text) {
      if (!inBody || hidden > 0) return;
      if (reading === "creator") creator += text;
      else if (reading === "image") image.push(`${image.pop() ?? ""}${text}`);
      else if (reading === "edge") edge += text;
      else if (outer.length > 0) paragraph.text += text.replace(/\s+/g, " ");
    },
  };
}
