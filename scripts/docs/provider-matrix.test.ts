import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { behaviours } from "../../server/testing/provider-matrix/behaviours.ts";
import type { MatrixEntry } from "../../server/testing/provider-matrix/entry.ts";
import { matrix } from "../../server/testing/provider-matrix/matrix.ts";
import { inProject } from "../root.ts";
import { type Mark, matrixPage } from "./provider-matrix.ts";

const page = inProject("server/docs/explain/provider-matrix.md");

async function markOf(entry: MatrixEntry, { isOffered, check }: (typeof behaviours)[number]): Promise<Mark> {
  if (isOffered && !isOffered(entry)) return "not offered";
  return check(entry).then(
    () => "works",
    () => "fails",
  );
}

test("the page of the matrix has the results of its tests; RECORD=1 writes it again", async () => {
  const rows = [];
  for (const entry of matrix) {
    const marks: Mark[] = [];
    for (const behaviour of behaviours) marks.push(await markOf(entry, behaviour));
    rows.push({ entry, marks });
  }
  const text = matrixPage(behaviours, rows);
  if (process.env.RECORD) writeFileSync(page, text);
  expect(readFileSync(page, "utf8")).toBe(text);
});
