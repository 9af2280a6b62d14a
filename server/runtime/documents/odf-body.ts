import { ownValue } from "../../lib/collections.ts";
import { type HiddenKind, type HiddenText, quoteName } from "./hidden-text.ts";
import { imageText } from "./image-text.ts";
import { type OdfBeside, odfBeside } from "./odf-beside.ts";
import { odfDeletions, odfHiddenElements } from "./odf-hidden.ts";
import { type OdfLists, odfLists } from "./odf-lists.ts";
import { type OdfParagraphs, odfParagraphs } from "./odf-paragraphs.ts";
import { type OdfStyles, readOdfStyle } from "./odf-styles.ts";
import { type OdfTables, odfTables } from "./odf-tables.ts";
import type { Outline } from "./outline.ts";
import { raisedEnd, raisedStart } from "./raised.ts";
import type { Attributes, XmlListener } from "./xml.ts";

/** Elements that are not text of the document, or hold deleted text, which is output in its place. */
const ignoredElements = new Set([
  "tracked-changes",
  "forms",
  "page-number",
  "page-count",
  "note-citation",
  "dc:date",
  "creator-initials",
  // Of a document in one XML file: images, and formulas, whose source is output apart.
  "binary-data",
  "math",
]);
/** Elements that share their local names with fields of a text. */
const prefixed = new Set(["dc:date", "dc:creator", "svg:title", "svg:desc"]);
const nameOf = (name: string, prefix: string): string =>
  prefixed.has(`${prefix}:${name}`) ? `${prefix}:${name}` : name;

/** Handlers for the start of an element, for its end, and for its text if that belongs to no paragraph. */
interface Element {
  open?(attribute: Attributes): void;
  close?(): void;
  text?(text: string): void;
}
type Elements = Record<string, Element>;

/** Receivers for content that must not be output where it occurs. */
interface OdfReceiver {
  /** Adds an embedded object by its name. */
  addObject(name: string): void;
  /** Adds text that many slides show, such as a footer. */
  addEdge(text: string): void;
}

/** Reads the content of a text document, a workbook or a presentation. */
export function odfBody(
  outline: Outline,
  styles: OdfStyles,
  { hiddenText, ...found }: OdfReceiver & { hiddenText: HiddenText },
): XmlListener & { slides(): number } {
  const [lists, tables, beside] = [odfLists(styles), odfTables(), odfBeside()];
  const paragraphs = odfParagraphs(outline, {
    lists,
    tables,
    beside,
    skip: (text) => hiddenText.skip("text", text, place()),
  });
  let [inBody, hidden, slides] = [false, 0, 0];
  let reading: Element | null = null;
  let tableName = "";
  const place = () =>
    slides > 0 ? `slide ${slides}` : quoteName(styles.isWorkbook ? tableName : paragraphs.lastHeading());
  const elements: Elements = {
    ...textElements(paragraphs, styles),
    "hidden-paragraph": {
      open(attribute) {
        if (attribute("is-hidden") === "true" && !hiddenText.isIncluded) paragraphs.hide();
      },
    },
    ...listElements(lists),
    ...tableElements(tables, {
      begin(name) {
        paragraphs.flush();
        if (styles.isWorkbook) outline.heading(1, name);
      },
      end(table) {
        outline.block(table);
        paragraphs.flushBeside();
      },
      cover(text) {
        hiddenText.skip("cell", text, place());
      },
      isCoveredShown: hiddenText.isIncluded,
    }),
    ...besideElements(beside, paragraphs),
    ...frameElements(paragraphs, { beside, tables, ...found }),
    ...edgeElements(found),
    page: {
      open() {
        paragraphs.flush();
        outline.page(++slides, { forgotten: true });
      },
      close: paragraphs.flush,
    },
    body: { close: paragraphs.flush },
  };
  const elementOf = (name: string): Element | null => ownValue(elements, name) ?? null;
  const [hiding, deletions] = [odfHiddenElements(styles), odfDeletions()];
  // The hidden element that is being left out: its kind, its text, and the number of elements open within it.
  let concealed: { kind: HiddenKind; text: string; depth: number } | null = null;
  /** Returns true if the element belongs to hidden content that is left out. */
  const conceals = (name: string, attribute: Attributes): boolean => {
    const kind = hiding.open(name, attribute);
    if (name === "table") tableName = attribute("name") ?? "";
    if (concealed) {
      concealed.depth++;
      if (name === "p" || name === "table-cell") concealed.text += " ";
    } else if (kind !== null && !hiddenText.isIncluded) {
      concealed = { kind, text: attribute("string-value") ?? "", depth: 1 };
      if (name === "page") slides++;
      if (name === "p" || name === "h") paragraphs.flush();
    }
    return concealed !== null;
  };
  const isConcealed = (name: string): boolean => {
    hiding.close(name);
    if (!concealed) return false;
    if (--concealed.depth > 0) return true;
    hiddenText.skip(concealed.kind, concealed.text, place());
    concealed = null;
    return true;
  };
  const addDeletion = (attribute: Attributes) => {
    const text = deletions.take(attribute("change-id"));
    if (text === "") return;
    if (!hiddenText.isIncluded) hiddenText.skip("deletion", text, place());
    else if (paragraphs.isOpen()) paragraphs.add(`~~${text}~~`);
    else outline.block(`~~${text}~~`);
  };
  return {
    slides: () => slides,
    open(local, attribute, prefix) {
      const name = nameOf(local, prefix);
      if (name === "body") inBody = true;
      if (!inBody) return readOdfStyle(styles, name, attribute);
      if (ignoredElements.has(name)) hidden++;
      if (hidden > 0) return deletions.open(name, attribute);
      if (conceals(name, attribute)) return;
      if (name === "change") addDeletion(attribute);
      const element = elementOf(name);
      if (element?.text) reading = element;
      element?.open?.(attribute);
    },
    close(local, prefix) {
      const name = nameOf(local, prefix);
      if (hidden > 0) deletions.close(name);
      else if (inBody && !isConcealed(name)) {
        const element = elementOf(name);
        element?.close?.();
        if (element?.text) reading = null;
      }
      if (inBody && ignoredElements.has(name)) hidden--;
    },
    text(text) {
      if (!inBody) return;
      if (hidden > 0) return deletions.text(text);
      if (concealed) concealed.text += text;
      else if (reading) reading.text?.(text);
      else if (paragraphs.isOpen()) paragraphs.add(text.replace(/\s+/g, " "));
    },
  };
}

function textElements(paragraphs: OdfParagraphs, styles: OdfStyles): Elements {
  const spans: boolean[] = [];
  return {
    p: { open: () => paragraphs.start(), close: paragraphs.end },
    h: {
      open: (attribute) => paragraphs.start(Math.min(6, Math.max(1, Number(attribute("outline-level")) || 1))),
      close: paragraphs.end,
    },
    // A heading's number, before its words.
    number: { close: () => paragraphs.add(" ") },
    s: { open: (attribute) => paragraphs.add(" ".repeat(Math.min(100, Number(attribute("c")) || 1))) },
    tab: { open: () => paragraphs.add("\t") },
    "line-break": { open: () => paragraphs.add("\n") },
    span: {
      open(attribute) {
        const raised = styles.raised.has(attribute("style-name") ?? "");
        spans.push(raised);
        if (raised) paragraphs.add(raisedStart);
      },
      close() {
        if (spans.pop()) paragraphs.add(raisedEnd);
      },
    },
  };
}

const listElements = (lists: OdfLists): Elements => ({
  list: { open: lists.start, close: lists.end },
  "list-item": { open: lists.item },
});

interface TableReceiver {
  begin(name: string): void;
  end(table: string): void;
  /** Receives the text of a cell that a merged cell covers. */
  cover(text: string): void;
  isCoveredShown: boolean;
}

function tableElements(tables: OdfTables, { begin, end, cover, isCoveredShown }: TableReceiver) {
  const cell: Element = { open: tables.startCell, close: tables.endCell };
  return {
    table: {
      open(attribute) {
        if (tables.start()) begin(attribute("name") ?? "");
      },
      close() {
        const table = tables.end();
        if (table !== null) end(table);
      },
    },
    "table-row": { open: tables.startRow, close: tables.endRow },
    "table-cell": cell,
    "covered-table-cell": {
      open: tables.startCell,
      close() {
        if (!isCoveredShown) cover(tables.emptyCell());
        tables.endCell();
      },
    },
  } satisfies Elements;
}

const besideElements = (beside: OdfBeside, paragraphs: OdfParagraphs): Elements => ({
  note: { open: () => paragraphs.add(beside.startNote()), close: beside.end },
  annotation: { open: beside.startComment, close: beside.end },
  "dc:creator": { text: beside.addAuthor, close: beside.endAuthor },
  // Shapes of a sheet, output before its cells.
  shapes: { open: () => beside.start(), close: beside.end },
  "text-box": {
    open() {
      // A text box of a slide is anchored to no paragraph.
      if (paragraphs.isOpen()) beside.start();
    },
    close() {
      if (paragraphs.isOpen()) beside.end();
    },
  },
});

/** Elements that can have an alternative text, like frames. */
const shapes = ["custom-shape", "g", "rect", "ellipse", "circle", "line", "polyline", "polygon", "path"].concat(
  "regular-polygon",
  "connector",
  "measure",
  "caption",
);

/** Handlers for the frames of pictures, embedded objects and slide titles. */
function frameElements(
  paragraphs: OdfParagraphs,
  { beside, tables, addObject }: { beside: OdfBeside; tables: OdfTables; addObject(name: string): void },
): Elements {
  // For each open frame: true if it is the title of a slide.
  const titles: boolean[] = [];
  let image: string[] = [];
  const descriptionReader: Element = {
    open: () => void image.push(""),
    text: (text) => void image.push(`${image.pop() ?? ""}${text}`),
  };
  const flushImage = () => {
    const text = imageText(...image);
    image = [];
    beside.add(text);
    if (text !== "" && !paragraphs.isOpen() && !tables.isOpen()) paragraphs.flushBeside();
  };
  return {
    ...Object.fromEntries(shapes.map((name) => [name, { close: flushImage }])),
    frame: {
      open(attribute) {
        const isTitle = attribute("class") === "title";
        titles.push(isTitle);
        if (isTitle) paragraphs.startTitle();
      },
      close() {
        flushImage();
        if (titles.pop()) paragraphs.endTitle();
      },
    },
    "svg:title": descriptionReader,
    "svg:desc": descriptionReader,
    object: {
      open(attribute) {
        const name = /^(?:\.\/)?([^/]{1,100})\/?$/.exec(attribute("href") ?? "")?.[1];
        if (name) addObject(name);
      },
    },
  };
}

function edgeElements({ addEdge }: OdfReceiver): Elements {
  let edge = "";
  const reader: Element = {
    open() {
      edge = "";
    },
    text(text) {
      edge += text;
    },
    close: () => addEdge(edge),
  };
  return { "header-decl": reader, "footer-decl": reader };
}
