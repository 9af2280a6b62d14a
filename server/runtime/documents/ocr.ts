import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import loadTesseract from "tesseract.js-core/tesseract-core-simd-lstm.js";
import { ocrFiles } from "../../lib/assets.ts";
import type { PlacedLine } from "./boxes.ts";
import { unreadable } from "./document-error.ts";

/** Reads the text of an image (PNG or PGM): paragraphs of lines with their boxes in the image. */
export type Ocr = (image: Uint8Array) => PlacedLine[][];

/** Minimum confidence in percent; a line below it is more likely part of a picture than text. */
const leastConfidence = 40;
const [lstm, automatic] = [1, "3"];

/** Loads Tesseract with its English data. All of it is then in memory, and no file is opened later. */
export async function loadOcr(): Promise<Ocr> {
  const { wasm, language } = ocrFiles();
  const engine = await loadTesseract({
    wasmBinary: readFileSync(wasm),
    print() {},
    printErr() {},
  });
  engine.FS.writeFile("eng.traineddata", gunzipSync(readFileSync(language)));
  const api = new engine.TessBaseAPI();
  if (api.Init(".", "eng", lstm) !== 0) throw new Error("Tesseract did not take its data.");
  api.SetVariable("tessedit_pageseg_mode", automatic);
  return (image) => {
    engine.FS.writeFile("/input", image);
    if (api.SetImageFile(1, 0) !== 0) throw unreadable("Its image is damaged.");
    return paragraphsOf(api.GetTSVText(0));
  };
}

const [pages, words] = ["1", "5"];

/** Parses Tesseract's TSV: level, page, block, paragraph, line, word, left, top, width, height, confidence, text. */
function paragraphsOf(table: string): PlacedLine[][] {
  const rows = table.split("\n").map((row) => row.split("\t"));
  const [, , , , , , , , width = Number.NaN, height = Number.NaN] = (rows.find(([level]) => level === pages) ?? []).map(
    Number,
  );
  const lines = Map.groupBy(
    rows.filter(([level]) => level === words),
    ([, , block, paragraph, line]) => `${block} ${paragraph} ${line}`,
  );
  const paragraphs = new Map<string, PlacedLine[]>();
  for (const [name, line] of lines) {
    const confidence = line.reduce((sum, row) => sum + Number(row[10]), 0) / line.length;
    if (confidence < leastConfidence) continue;
    const text = line.map((row) => row.slice(11).join(" ")).join(" ");
    const paragraph = name.slice(0, name.lastIndexOf(" "));
    const box = [
      Math.min(...line.map((row) => Number(row[6]))) / width,
      Math.min(...line.map((row) => Number(row[7]))) / height,
      Math.max(...line.map((row) => Number(row[6]) + Number(row[8]))) / width,
      Math.max(...line.map((row) => Number(row[7]) + Number(row[9]))) / height,
    ].map((edge) => Math.min(1, Math.max(0, Math.round(edge * 10_000) / 10_000)));
    const [left = 0, top = 0, right = 0, bottom = 0] = box;
    paragraphs.set(paragraph, [...(paragraphs.get(paragraph) ?? []), { text, box: [left, top, right, bottom] }]);
  }
  return [...paragraphs.values()];
}
