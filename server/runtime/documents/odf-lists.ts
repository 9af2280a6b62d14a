import { listNumber } from "./list-numbers.ts";
import type { OdfStyles } from "./odf-styles.ts";
import type { Attributes } from "./xml.ts";

export type OdfLists = ReturnType<typeof odfLists>;

/** Tracks the open lists and the item numbers of each list style. */
export function odfLists(styles: OdfStyles) {
  const open: { style: string; marked: boolean }[] = [];
  const counts = new Map<string, number[]>();
  return {
    depth: () => open.length,
    start(attribute: Attributes): void {
      const style = attribute("style-name") ?? open.at(-1)?.style ?? "";
      const goesOn = attribute("continue-numbering") === "true" || attribute("continue-list") !== null;
      if (open.length === 0 && !goesOn) counts.delete(style);
      open.push({ style, marked: true });
    },
    item(): void {
      const list = open.at(-1);
      if (list) list.marked = false;
    },
    end(): void {
      open.pop();
    },
    /** Returns the marker of a paragraph: a number or a dot for the first one of each item. */
    mark(): string {
      const list = open.at(-1);
      if (!list || list.marked) return "";
      list.marked = true;
      const at = open.length - 1;
      const { number, prefix = "", suffix = "", start = 1 } = styles.lists.get(list.style)?.[at] ?? {};
      if (number === undefined) return "-";
      const count = counts.get(list.style) ?? [];
      counts.set(list.style, count);
      count[at] = (count[at] ?? start - 1) + 1;
      count.length = open.length;
      return `${prefix}${listNumber(count[at], number)}${suffix}`;
    },
  };
}
