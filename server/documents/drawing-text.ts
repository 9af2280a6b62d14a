import { drawnImageText } from "./image-text.ts";
import type { OfficeFile } from "./office.ts";
import type { Outline } from "./outline.ts";
import { readXml } from "./xml.ts";

const drawn = ["drawing", "chart", "chartEx", "chartUserShapes", "diagramData"];

/** What is written in the drawings that a part names: its text boxes, charts (with their values) and diagrams. */
export function drawnIn(file: OfficeFile, part: string): string[] {
  const seen = new Set([part]);
  const texts: string[] = [];
  const add = (from: string) => {
    for (const { type, part } of file.related(from).values()) {
      if (!drawn.includes(type) || seen.has(part)) continue;
      seen.add(part);
      const content = file.read(part);
      if (content === null) continue;
      texts.push(linesOf(content).join("\n"));
      // A sheet's drawing holds its charts, and a chart what is drawn upon it.
      if (type !== "diagramData") add(part);
    }
  };
  add(part);
  return texts;
}

export function outlineDrawings(file: OfficeFile, part: string, outline: Outline): void {
  for (const text of drawnIn(file, part)) outline.block(text);
}

/** Where a line ends: paragraphs, and the series, labels and names of charts. */
const lineEnds = new Set(
  ["p", "strCache", "numCache", "strLit", "numLit", "lvl", "txData"].concat("dlblRangeCache", "name"),
);

/** Paragraphs, and of charts a line for each row of what they draw. */
function linesOf(content: Uint8Array): string[] {
  const lines: string[] = [];
  let line = "";
  let reading: "words" | "value" | null = null;
  let hidden = 0;
  const end = () => {
    if (line.trim() !== "") lines.push(line.trim());
    line = "";
  };
  readXml(content, {
    open(name, attribute) {
      // What is shown instead by who cannot draw it.
      if (name === "Fallback") hidden++;
      if (hidden > 0) return;
      // Also that of a trend.
      const isValue = name === "v" || name === "pt" || name === "name";
      if (isValue && line !== "" && !line.endsWith(" ")) line += " ";
      if (name === "br") line += "\n";
      if (name === "cNvPr" && drawnImageText(attribute) !== "") lines.push(drawnImageText(attribute));
      // What the numbers of an axis are counted in.
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
