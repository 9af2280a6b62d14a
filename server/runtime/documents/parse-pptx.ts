import { documentBounds } from "./bounds.ts";
import { tooLarge } from "./document-error.ts";
import { outlineDrawings } from "./drawing-text.ts";
import { drawnImageText } from "./image-text.ts";
import { listNumber } from "./list-numbers.ts";
import { addToCell, markdownTable } from "./markdown.ts";
import { type OfficeFile, openOffice } from "./office.ts";
import type { Outline } from "./outline.ts";
import { hasWords } from "./page-edges.ts";
import { markRaisedText, raisedEnd, raisedStart } from "./raised.ts";
import { readXml } from "./xml.ts";

const main = "ppt/presentation.xml";

/**
 * Parses a presentation: each slide is a page under its title, with notes and comments. Text shared by slides (footers,
 * layouts) is output once after the last slide. Returns the number of slides.
 */
export function parsePptx(bytes: Uint8Array, outline: Outline): number {
  const file = openOffice(bytes);
  const related = file.related(main);
  const slides = slideIds(file).map((id) => related.get(id)?.part ?? "");
  if (slides.length > documentBounds.pages) throw tooLarge(`It has more than ${documentBounds.pages} slides.`);
  const shared = new Set<string>();
  const backgrounds = new Set<string>();
  for (const [at, part] of slides.entries()) {
    outline.page(at + 1, { forgotten: true });
    const slide = file.read(part);
    if (slide === null) continue;
    readSlide(slide, outline, shared);
    outlineDrawings(file, part, outline);
    for (const { type, part: beside } of file.related(part).values()) {
      const content = type === "notesSlide" || type === "comments" ? file.read(beside) : null;
      if (content) readSlide(content, outline, shared);
    }
    addBackgrounds(file, part, backgrounds);
  }
  for (const part of backgrounds) for (const text of layoutTexts(file.read(part))) shared.add(text);
  if (shared.size > 0) outline.leave();
  for (const text of shared) outline.block(text);
  return slides.length;
}

function slideIds(file: OfficeFile): string[] {
  const ids: string[] = [];
  readXml(file.need(main), {
    open(name, attribute) {
      if (name === "sldId") ids.push(attribute("id", true) ?? "");
    },
  });
  return ids;
}

/** Adds the layout of a slide or its notes, and the master of that layout. */
function addBackgrounds(file: OfficeFile, part: string, found: Set<string>): void {
  for (const { type, part: below } of file.related(part).values()) {
    if ((type !== "slideLayout" && type !== "slideMaster") || found.has(below)) continue;
    found.add(below);
    addBackgrounds(file, below, found);
  }
}

const drawn = new Set(["sp", "pic", "graphicFrame"]);

/** Returns the text of a layout itself, without its placeholders. */
function layoutTexts(content: Uint8Array | null): string[] {
  const texts: string[] = [];
  let [isPlace, text, reading] = [false, "", false];
  if (content === null) return texts;
  readXml(content, {
    open(name, attribute) {
      if (drawn.has(name)) [isPlace, text] = [false, ""];
      if (name === "ph") isPlace = true;
      if (name === "cNvPr") text += `${drawnImageText(attribute)}\n`;
      if (name === "br") text += "\n";
      reading = name === "t";
    },
    close(name) {
      reading = false;
      if (name === "p") text += "\n";
      if (drawn.has(name) && !isPlace && text.trim() !== "") texts.push(text.trim());
    },
    text(piece) {
      if (reading) text += piece;
    },
  });
  return texts;
}

/** Placeholders that slides share (footer, header, number, date, image of the slide). Their fields are skipped. */
const edges = new Set(["ftr", "hdr", "sldNum", "dt", "sldImg"]);

/** Reads a slide. Text of shared placeholders goes to `shared`. */
function readSlide(content: Uint8Array, outline: Outline, shared: Set<string>): void {
  let kind = "";
  let text = "";
  let lines: string[] = [];
  let rows: string[][] = [];
  let inTable = false;
  let [reading, isRaised] = [false, false];
  // Number of open fallbacks (which repeat a drawing) and of open fields.
  let [hidden, fields] = [0, 0];
  const numbers = slideNumbers();
  const endShape = () => {
    if (kind === "title" || kind === "ctrTitle") outline.heading(1, lines.join(" "));
    else if (!edges.has(kind)) outline.block(lines.join("\n"));
    else if (kind !== "sldNum" || hasWords(lines.join(" "))) shared.add(lines.join("\n").trim());
    [kind, lines] = ["", []];
    numbers.end();
  };
  const endParagraph = () => {
    const line = numbers.next(text) + markRaisedText(text);
    if (inTable) addToCell(rows, line);
    else lines.push(line);
    text = "";
  };
  readXml(content, {
    open(name, attribute) {
      if (name === "Fallback") hidden++;
      if (hidden > 0) return;
      if (name === "sp") endShape();
      if (name === "fld") fields++;
      if (name === "ph") kind = attribute("type") ?? "";
      if (name === "tbl") [inTable, rows] = [true, []];
      if (name === "tr") rows.push([]);
      if (name === "tc") rows.at(-1)?.push("");
      if (name === "br") text += "\n";
      if (name === "cNvPr") outline.block(drawnImageText(attribute));
      if (name === "pPr") numbers.level(Number(attribute("lvl")) || 0);
      if (name === "buAutoNum") numbers.number(attribute("type") ?? "", Number(attribute("startAt")) || 1);
      isRaised ||= name === "rPr" && Number.parseInt(attribute("baseline") ?? "", 10) > 0;
      // A comment holds its words in an element of another name.
      reading = name === "t" || name === "text";
      if (reading && isRaised) text += raisedStart;
    },
    close(name) {
      if (name === "Fallback") hidden--;
      if (hidden > 0) return;
      if (name === "fld") fields--;
      if (reading && isRaised) text += raisedEnd;
      reading = false;
      if (name === "r") isRaised = false;
      if (name === "cm") endParagraph();
      if (name === "p") endParagraph();
      if (name === "sp") endShape();
      if (name !== "tbl") return;
      if (rows.length > 0) outline.block(markdownTable(rows));
      inTable = false;
    },
    text(piece) {
      if (reading && !(fields > 0 && edges.has(kind))) text += piece;
    },
  });
  endShape();
}

/** Converts a style such as "alphaUcPeriod", "romanLcParenR" or "arabicPeriod". */
const styleOf = (type: string): string => {
  const letters = /^(alpha|roman)(Uc|Lc)/.exec(type);
  if (!letters) return "decimal";
  return `${letters[2] === "Uc" ? "upper" : "lower"}${letters[1] === "alpha" ? "Letter" : "Roman"}`;
};

/** Numbers the list paragraphs of a shape. */
function slideNumbers() {
  let counts: { style: string; count: number }[] = [];
  let [level, style, start] = [0, "", 1];
  return {
    level(given: number): void {
      level = Math.min(8, Math.max(0, Math.floor(given)));
    },
    number(given: string, from: number): void {
      [style, start] = [given, from];
    },
    /** Returns the marker of this paragraph. */
    next(text: string): string {
      if (text.trim() === "") return "";
      const [own, at] = [style, level];
      [style, level] = ["", 0];
      if (own === "") {
        counts.length = Math.min(counts.length, at);
        return "";
      }
      // A paragraph in another style restarts the numbering.
      const before = counts[at]?.style === own ? counts[at].count : start - 1;
      counts[at] = { style: own, count: before + 1 };
      counts.length = at + 1;
      const number = listNumber(before + 1, styleOf(own));
      const shown = /both$/i.test(own)
        ? `(${number})`
        : number + (/period$/i.test(own) ? "." : /r$/i.test(own) ? ")" : "");
      return `${"  ".repeat(at)}${shown} `;
    },
    end(): void {
      counts = [];
    },
  };
}
