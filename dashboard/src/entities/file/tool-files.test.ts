import { expect, test } from "bun:test";
import { toolFiles } from "./tool-files.ts";

test("pictures that a program left are shown, and its other files can be downloaded, also an SVG", () => {
  const files = ["chart.png", "chart.svg", "totals.xlsx", "photo.JPEG"].map((filename) => ({
    id: `file_${filename}`,
    filename,
    bytes: 1,
  }));
  const { images = [], files: others = [] } = toolFiles({ result: null, files });
  expect(images.map(({ filename }) => filename)).toEqual(["chart.png", "photo.JPEG"]);
  expect(others).toEqual([
    { file_id: "file_chart.svg", filename: "chart.svg" },
    { file_id: "file_totals.xlsx", filename: "totals.xlsx" },
  ]);
});

test("outputs of other tools have no files", () => {
  for (const output of [null, "text", { files: "a" }, { files: [1, {}, { id: 2, filename: "a" }] }])
    expect(toolFiles(output)).toEqual({ images: [], files: [] });
});
