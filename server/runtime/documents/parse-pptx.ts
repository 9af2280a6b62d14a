import { documentBounds } from "./bounds.ts";
import { tooLarge } from "./document-error.ts";
import { outlineDrawings } from "./drawing-text.ts";
import { createHiddenText, type HiddenText } from "./hidden-text.ts";
import { drawnImageText } from "./image-text.ts";
import { listNumber } from "./list-numbers.ts";
import { addToCell, markdownTable } from "./markdown.ts";
import { mainPart, type OfficeFile, openOffice } from "./office.ts";
import { type Outline, openOutline } from "./outline.ts";
import { hasWords } from "./page-edges.ts";
import type { ParseOptions } from "./parse-options.ts";
import { markRaisedText, raisedEnd, raisedStart } from "./raised.ts";
import { type PartReader, readXml } from "./xml.ts";

/**
 * Parses a presentation: each slide is a page under its title, with notes and comments. Text shared by slides (footers,
 * layouts) is output once after the last slide. Returns the number of slides.
 */
export function parsePptx(bytes: Uint8Array, outline: Outline, { includeHidden }: ParseOptions): number {
  const file = openOffice(bytes, outline);
  const main = mainPart(file, "ppt/presentation.xml");
  const related = file.related(main);
  const slides = slideIds(file.need(main)).map((id) => related.get(id)?.part ?? "");
  if (slides.length > documentBounds.pages) throw tooLarge(`It has more than ${documentBounds.pages} slides.`);
  const hiddenText = createHiddenText(outline, includeHidden);
  const shared = new Set<string>();
  const backgrounds = new Set<string>();
  for (const [at, part] of slides.entries()) {
    outline.page(at + 1, { forgotten: true });
    if (!includeHidden && isHidden(file.bytesOf(part))) {
      const skipped = openOutline();
      outlineSlide(file, part, skipped, new Set(), createHiddenText(skipped, true));
      hiddenText.skip("slide", textOf(skipped), "");
    } else {
      outlineSlide(file, part, outline, shared, hiddenText);
      addBackgrounds(file, part, backgrounds);
    }
    hiddenText.warn(at + 1);
  }
  for (const part of backgrounds) for (const text of layoutTexts(file.part(part))) shared.add(text);
  if (shared.size > 0) outline.leave();
  for (const text of shared) outline.block(text);
  return slides.length;
}

const textOf = (outline: Outline): string =>
  outline
    .close()
    .map(({ text }) => text)
    .join(" ")
    .replace(/^#+ /gm, "");

/** Outputs a slide, its drawings, notes and comments. */
function outlineSlide(file: OfficeFile, part: string, outline: Outline, shared: Set<string>, hiddenText: HiddenText) {
  readSlide(file.part(part), outline, shared, hiddenText);
  outlineDrawings(file, part, outline);
  for (const { type, part: beside } of file.related(part).values()) {
    if (type === "notesSlide" || type === "comments") readSlide(file.part(beside), outline, shared, hiddenText);
  }
}

/** True for a slide that is left out when the presentation is shown. */
function isHidden(slide: Uint8Array | null): boolean {
  if (slide === null) return false;
  const start = Buffer.from(slide.buffer, slide.byteOffset, Math.min(slide.length, 8192)).toString("latin1");
  return /<(?:\w{1,20}:)?sld\s[^>]*?\bshow\s*=\s*["'](?:0|false)["']/.test(start);
}

function slideIds(presentation: Uint8Array): string[] {
  const ids: string[] = [];
  readXml(presentation, {
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
function layoutTexts(read: PartReader): string[] {
  const texts: string[] = [];
  let [isPlace, text, reading] = [false, "", false];
  read({
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

const shapeNames = new Set(["sp", "pic", "graphicFrame", "grpSp", "cxnSp"]);
const isTrue = (value: string | null): boolean => value === "1" || value === "true";

/** Reads a slide. Text of shared placeholders goes to `shared`. */
function readSlide(read: PartReader, outline: Outline, shared: Set<string>, hiddenText: HiddenText): void {
  let kind = "";
  let text = "";
  let lines: string[] = [];
  let rows: string[][] = [];
  let [inTable, isCovered] = [false, false];
  let [reading, isRaised] = [false, false];
  // Number of open fallbacks (which repeat a drawing) and of open fields.
  let [hidden, fields] = [0, 0];
  // For each open shape or group, true if it is hidden.
  const shapes: boolean[] = [];
  let [hiddenShapes, hiddenShapeText] = [0, ""];
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
  read({
    open(name, attribute) {
      if (name === "Fallback") hidden++;
      if (hidden > 0) return;
      if (shapeNames.has(name)) shapes.push(false);
      if (name === "cNvPr" && isTrue(attribute("hidden")) && !hiddenText.isIncluded && shapes.at(-1) === false) {
        shapes[shapes.length - 1] = true;
        hiddenShapes++;
      }
      if (name === "sp") endShape();
      if (name === "fld") fields++;
      if (name === "ph") kind = attribute("type") ?? "";
      if (hiddenShapes > 0) {
        reading = name === "t";
        if (name === "p" || name === "br" || name === "tc") hiddenShapeText += " ";
        return;
      }
      if (name === "tbl") [inTable, rows] = [true, []];
      if (name === "tr") rows.push([]);
      if (name === "tc") rows.at(-1)?.push("");
      if (name === "tc") isCovered = isTrue(attribute("hMerge")) || isTrue(attribute("vMerge"));
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
      if (shapeNames.has(name) && shapes.pop() && --hiddenShapes === 0) {
        hiddenText.skip("shape", hiddenShapeText, "");
        hiddenShapeText = "";
        return;
      }
      if (name === "fld") fields--;
      if (hiddenShapes > 0) {
        reading = false;
        return;
      }
      if (reading && isRaised) text += raisedEnd;
      reading = false;
      if (name === "r") isRaised = false;
      if (name === "cm") endParagraph();
      if (name === "p") endParagraph();
      if (name === "tc" && isCovered && !hiddenText.isIncluded)
        hiddenText.skip("cell", rows.at(-1)?.splice(-1, 1, "").join() ?? "", "");
      if (name === "sp") endShape();
      if (name !== "tbl") return;
      if (rows.length > 0) outline.block(markdownTable(rows));
      inTable = false;
    },
    text(piece) {
      if (!reading || hidden > 0) return;
      if (hiddenShapes > 0) hiddenShapeText += piece;
      else if (!(fields > 0 && edges.has(kind))) text += piece;
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
