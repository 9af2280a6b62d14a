import { listNumber } from "./list-numbers.ts";
import type { PartReader } from "./xml.ts";

/** A paragraph's place in a list. */
export interface ListPlace {
  /** Null: no known list. */
  list: string | null;
  level: number;
}

interface Level {
  start: number;
  style: string;
  /** Template of the number, such as "%1.%2)". */
  text: string;
}

const levelsMost = 9;

/** Returns the marker of each list item, called in their order: "3.", "(b)", "-"; "" for none. */
export type ListMarks = (place: ListPlace) => string;

/** Numbers the list items of a text document by its numbering part. */
export function listMarks(read: PartReader): ListMarks {
  const { kinds, lists } = numberingOf(read);
  const counts = new Map<string, number[]>();
  const startedLists = new Set<string>();
  return ({ list, level }) => {
    const { kind = "", starts = [] } = lists.get(list ?? "") ?? {};
    const levels = kinds.get(kind);
    const own = levels?.[level];
    if (list === null || !levels || !own) return "-";
    const count = counts.get(kind) ?? [];
    counts.set(kind, count);
    if (!startedLists.has(list))
      for (const [at, start] of starts.entries()) if (start !== undefined) count[at] = start - 1;
    startedLists.add(list);
    count[level] = (count[level] ?? own.start - 1) + 1;
    count.length = level + 1;
    if (own.style === "bullet") return "-";
    if (own.style === "none") return "";
    return own.text.replace(/%([1-9])/g, (_, place: string) => {
      const at = Number(place) - 1;
      return listNumber(count[at] ?? levels[at]?.start ?? 1, levels[at]?.style ?? "");
    });
  };
}

/** Reads the levels of each abstract list, and for each list its abstract list and its start overrides. */
function numberingOf(read: PartReader) {
  const kinds = new Map<string, Level[]>();
  const lists = new Map<string, { kind: string; starts: (number | undefined)[] }>();
  let [kind, list, level] = ["", "", 0];
  const own = (): Level => {
    const levels = kinds.get(kind) ?? [];
    kinds.set(kind, levels);
    const found = levels[level] ?? { start: 1, style: "decimal", text: "" };
    levels[level] = found;
    return found;
  };
  read({
    open(name, attribute) {
      const value = attribute("val") ?? "";
      if (name === "abstractNum") [kind, list] = [attribute("abstractNumId") ?? "", ""];
      if (name === "num") {
        list = attribute("numId") ?? "";
        lists.set(list, { kind: "", starts: [] });
      }
      if (name === "lvl" || name === "lvlOverride")
        level = Math.min(levelsMost - 1, Math.max(0, Math.floor(Number(attribute("ilvl"))) || 0));
      const numbered = list === "" ? undefined : lists.get(list);
      if (numbered) {
        if (name === "abstractNumId") numbered.kind = value;
        if (name === "startOverride") numbered.starts[level] = Number(value) || 0;
        return;
      }
      if (name === "start") own().start = Number(value) || 0;
      if (name === "numFmt") own().style = value;
      if (name === "lvlText") own().text = value.slice(0, 60);
    },
  });
  return { kinds, lists };
}
