import { drawnImageText } from "./image-text.ts";
import type { OfficeFile } from "./office.ts";
import type { Outline } from "./outline.ts";
import { readXml } from "./xml.ts";

const drawn = ["drawing", "chart", "chartEx", "chartUserShapes", "diagramData"];

/** What is written in the drawings that a part names: its text boxes, charts (with their values) and diagrams. */
export function outlineDrawings(file: OfficeFile, part: string, outline: Outline): void {
  const seen = new Set([part]);
  const add = (from: string) => {
    for (const { type, part } of file.related(from).values()) {
      if (!drawn.includes(type) || seen.has(part)) continue;
      seen.add(part);
      const content = file.read(part);
      if (content === null) continue;
      outline.block(linesOf(content).join("\n"));
      // A sheet's drawing holds its charts, and a chart what is drawn upon it.
      if (type !== "diagramData") add(part);
    }
  };
  add(part);
}

/** Paragraphs, and of charts a line for each row of what they draw. */
function linesOf(content: Uint8Array): string[] {
  const lines: string[] = [];
  let line = "";
  let reading = false;
  const end = () => {
    if (line.trim() !== "") lines.push(line.trim());
    line = "";
  };
  readXml(content, {
    open(name, attribute) {
      const isValue = name === "v" || name === "pt";
      if (isValue && line !== "" && !line.endsWith(" ")) line += " ";
      if (name === "br") line += "\n";
      if (name === "cNvPr" && drawnImageText(attribute) !== "") lines.push(drawnImageText(attribute));
      reading = name === "t" || isValue;
    },
    close(name) {
      reading = false;
      if (["p", "strCache", "numCache", "strLit", "numLit", "lvl", "txData"].includes(name)) end();
    },
    text(text) {
      if (reading) line += text;
    },
  });
  end();
  return lines;
}
