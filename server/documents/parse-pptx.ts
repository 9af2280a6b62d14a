import { documentBounds } from "./bounds.ts";
import { tooLarge } from "./document-error.ts";
import { markdownTable } from "./markdown.ts";
import { type OfficeFile, openOffice } from "./office.ts";
import type { Outline } from "./outline.ts";
import { readXml } from "./xml.ts";

const main = "ppt/presentation.xml";

/** A presentation: each slide is a page under its title, with its speaker's notes. Gives how many there are. */
export function parsePptx(bytes: Uint8Array, outline: Outline): number {
  const file = openOffice(bytes);
  const related = file.related(main);
  const slides = slideIds(file).map((id) => related.get(id)?.part ?? "");
  if (slides.length > documentBounds.pages) throw tooLarge(`It has more than ${documentBounds.pages} slides.`);
  for (const [at, part] of slides.entries()) {
    outline.page(at + 1, true);
    const slide = file.read(part);
    if (slide === null) continue;
    readSlide(slide, outline);
    const notes = [...file.related(part).values()].find(({ type }) => type === "notesSlide");
    const spoken = notes && file.read(notes.part);
    if (spoken) readSlide(spoken, outline);
  }
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

/** Kinds of places on a slide that say nothing of it. */
const furniture = new Set(["sldNum", "dt", "ftr", "hdr", "sldImg"]);

function readSlide(content: Uint8Array, outline: Outline): void {
  let kind = "";
  let text = "";
  let lines: string[] = [];
  let rows: string[][] = [];
  let inTable = false;
  let reading = false;
  const endShape = () => {
    if (kind === "title" || kind === "ctrTitle") outline.heading(1, lines.join(" "));
    else if (!furniture.has(kind)) outline.block(lines.join("\n"));
    [kind, lines] = ["", []];
  };
  const endParagraph = () => {
    if (!inTable) lines.push(text);
    else if (text !== "") rows.at(-1)?.push(`${rows.at(-1)?.pop() ?? ""} ${text}`.trim());
    text = "";
  };
  readXml(content, {
    open(name, attribute) {
      if (name === "sp") endShape();
      if (name === "ph") kind = attribute("type") ?? "";
      if (name === "tbl") [inTable, rows] = [true, []];
      if (name === "tr") rows.push([]);
      if (name === "tc") rows.at(-1)?.push("");
      if (name === "br") text += "\n";
      reading = name === "t";
    },
    close(name) {
      if (name === "t") reading = false;
      if (name === "p") endParagraph();
      if (name === "sp") endShape();
      if (name !== "tbl") return;
      if (rows.length > 0) outline.block(markdownTable(rows));
      inTable = false;
    },
    text(piece) {
      if (reading) text += piece;
    },
  });
  endShape();
}
