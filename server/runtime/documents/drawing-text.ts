import { drawnImageText } from "./image-text.ts";
import type { OfficeFile } from "./office.ts";
import type { Outline } from "./outline.ts";
import type { PartReader } from "./xml.ts";

const drawn = ["drawing", "chart", "chartEx", "chartUserShapes", "diagramData"];

/** Returns the text of the drawings that a part refers to: text boxes, charts (with their values) and diagrams. */
export function drawingTexts(file: OfficeFile, part: string): string[] {
  const seen = new Set([part]);
  const texts: string[] = [];
  const add = (from: string) => {
    for (const { type, part } of file.related(from).values()) {
      if (!drawn.includes(type) || seen.has(part)) continue;
      seen.add(part);
      texts.push(linesOf(file.part(part)).join("\n"));
      // A sheet's drawing refers to its charts, and a chart to the drawing on top of it.
      if (type !== "diagramData") add(part);
    }
  };
  add(part);
  return texts;
}

export function outlineDrawings(file: OfficeFile, part: string, outline: Outline): void {
  for (const text of drawingTexts(file, part)) outline.block(text);
}

/** Elements that end a line: paragraphs, and the series, labels and names of charts. */
const lineEnds = new Set(
  ["p", "strCache", "numCache", "strLit", "numLit", "lvl", "txData"].concat("dlblRangeCache", "name"),
);

/** Returns one line per paragraph, and for charts one per series, axis or label. */
function linesOf(read: PartReader): string[] {
  const lines: string[] = [];
  let line = "";
  let reading: "words" | "value" | null = null;
  let hidden = 0;
  const end = () => {
    if (line.trim() !== "") lines.push(line.trim());
    line = "";
  };
  read({
    open(name, attribute) {
      // A fallback repeats the drawing for programs that cannot show it.
      if (name === "Fallback") hidden++;
      if (hidden > 0) return;
      // Includes the name of a trend line.
      const isValue = name === "v" || name === "pt" || name === "name";
      if (isValue && line !== "" && !line.endsWith(" ")) line += " ";
      if (name === "br") line += "\n";
      if (name === "cNvPr" && drawnImageText(attribute) !== "") lines.push(drawnImageText(attribute));
      // The unit of an axis, such as "millions".
      if (name === "builtInUnit") lines.push(attribute("val") ?? "");
      reading = name === "t" ? "words" : isValue ? "value" : null;
    },
    close(name) {
      if (name === "Fallback") hidden--;
      reading = null;
      if (lineEnds.has(name)) end();
    },
    text(text) {
      if (reading === "words") line += text;
      if (reading === "value") line += line.endsWith(" ") ? text.trim() : text.replace(/\s+/g, " ");
    },
  });
  end();
  return lines;
}
