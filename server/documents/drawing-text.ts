import type { OfficeFile } from "./office.ts";
import type { Outline } from "./outline.ts";
import { readXml } from "./xml.ts";

const drawn = ["drawing", "chart", "chartEx", "diagramData"];

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
      // A sheet's drawing holds its charts.
      if (type === "drawing") add(part);
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
    open(name) {
      if (name === "v" && line !== "") line += " ";
      if (name === "br") line += "\n";
      reading = name === "t" || name === "v";
    },
    close(name) {
      reading = false;
      if (["p", "strCache", "numCache"].includes(name)) end();
    },
    text(text) {
      if (reading) line += text;
    },
  });
  end();
  return lines;
}
