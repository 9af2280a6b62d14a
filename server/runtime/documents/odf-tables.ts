import { documentBounds } from "./bounds.ts";
import { tooLarge } from "./document-error.ts";
import { markdownTable } from "./markdown.ts";
import type { Attributes } from "./xml.ts";

/** Maximum repetitions of a cell or a row, which one element can repeat any number of times. */
const repeatedMost = 100;

export type OdfTables = ReturnType<typeof odfTables>;

/** The open table. A nested table becomes text of its cell. */
export function odfTables() {
  let depth = 0;
  let rows: string[][] = [];
  // Text of the open cell, and its stored value, which is used if it has no text.
  let [cell, value] = ["", ""];
  let [cellRepeated, rowRepeated] = [1, 1];
  // Characters added by repeated cells: a few bytes of a file can stand for ten thousand cells.
  let copied = 0;
  const copy = (texts: readonly string[], times: number) => {
    copied += times * texts.reduce((sum, { length }) => sum + length, 0);
    if (copied > documentBounds.text) throw tooLarge(`It holds more than ${documentBounds.text} bytes of text.`);
  };
  const repeats = (attributeText: string | null) => Math.min(repeatedMost, Math.max(1, Number(attributeText) || 1));
  return {
    isOpen: () => depth > 0,
    addToCell(text: string): void {
      cell = `${cell} ${text}`.trim();
    },
    /** Returns true if the table is not nested in another. */
    start(): boolean {
      if (++depth > 1) return false;
      rows = [];
      return true;
    },
    /** Returns the table as Markdown ("" if it is empty), or null if it is nested. */
    end(): string | null {
      if (--depth > 0) return null;
      const shown = rows.filter((row) => row.some((value) => value !== ""));
      return shown.length > 0 ? markdownTable(shown) : "";
    },
    startRow(attribute: Attributes): void {
      if (depth !== 1) return;
      rows.push([]);
      rowRepeated = repeats(attribute("number-rows-repeated"));
    },
    endRow(): void {
      if (depth !== 1) return;
      const row = rows.at(-1) ?? [];
      while (row.at(-1) === "") row.pop();
      if (row.length === 0) rows.pop();
      copy(row, rowRepeated - 1);
      if (row.length > 0) for (let left = rowRepeated; left > 1; left--) rows.push([...row]);
    },
    startCell(attribute: Attributes): void {
      if (depth !== 1) return;
      const formula = /^(?:\w+:)?(=.*)$/s.exec(attribute("formula") ?? "")?.[1];
      cell = "";
      value = attribute("value-type") === null ? (formula ?? "") : storedValue(attribute);
      cellRepeated = repeats(attribute("number-columns-repeated"));
    },
    /** Empties the open cell and returns its text. */
    emptyCell(): string {
      if (depth !== 1) return "";
      const text = cell || value;
      [cell, value] = ["", ""];
      return text;
    },
    endCell(): void {
      if (depth !== 1) return;
      const shown = cell || value;
      copy([shown], cellRepeated - 1);
      for (; cellRepeated > 0; cellRepeated--) rows.at(-1)?.push(shown);
    },
  };
}

/** Returns the stored value of a cell, because some programs write values without their displayed text. */
function storedValue(attribute: Attributes): string {
  const values = ["string-value", "date-value", "time-value", "boolean-value", "value"].map((name) => attribute(name));
  return values.find((value) => value !== null) ?? "";
}
