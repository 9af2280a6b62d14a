import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { docxOf, pdfOf } from "../server/testing/documents.ts";
import { blocksOf, createReader } from "./readme-reader.ts";

// Chapters that tell how agents remember, typed as they stand after the README's settings and the helpers.

const manual = pdfOf([
  "# Espresso machine Lago 3\nThank you for choosing this machine. Read all of this before the first use.",
  "# Descaling\nRemove lime from the boiler every three months. Fill the tank with citric acid and start the cleaning programme.",
  "# Warranty\nThe manufacturer repairs defects free of charge for two years after the day of purchase.",
]);
const handbook = docxOf([
  { heading: "Working hours", text: "The office opens at eight in the morning and closes at six in the evening." },
  { heading: "Holidays", text: "Every employee may take thirty days of paid vacation in a year." },
]);

/** A reader who has come to the end of the quick start's settings and to uploads, with two documents at hand. */
async function createSettledReader() {
  const reader = createReader();
  writeFileSync(join(reader.folder, "manual.pdf"), manual);
  writeFileSync(join(reader.folder, "handbook.docx"), handbook);
  const [start, settings] = blocksOf("Quick start");
  const [helpers] = blocksOf("Helpers");
  const [upload] = blocksOf("Files");
  await reader.type([start!, settings!, helpers!, upload!]);
  return reader;
}

test.each([
  ["Threads", 1],
  ["Memory", 1],
  ["Files before the model", 1],
  ["An agent that remembers", 4],
  ["Long conversations", 1],
])("every command of the chapter %s prints what it says", async (heading, count) => {
  const blocks = blocksOf(heading);
  expect(blocks).toHaveLength(count);
  await using reader = await createSettledReader();
  await reader.type(blocks);
});
