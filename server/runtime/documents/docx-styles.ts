import type { ListPlace } from "./docx-numbering.ts";
import type { Attributes, PartReader } from "./xml.ts";

/** Headings and lists that paragraph styles stand for, by style id. */
export interface DocxStyles {
  headings: Map<string, number>;
  lists: Map<string, ListPlace>;
  /** For each style that says so, true if its text is hidden. */
  hidden: Map<string, boolean>;
}

/** Maximum depth of style inheritance, so that a cycle ends. */
const maxDepth = 20;

export function stylesOf(read: PartReader): DocxStyles {
  const [headings, lists, bases] = [new Map<string, number>(), new Map<string, ListPlace>(), new Map<string, string>()];
  const hidden = new Map<string, boolean>();
  let style = "";
  read({
    open(name, attribute) {
      if (name === "style") style = attribute("styleId") ?? "";
      if (style === "") return;
      const value = attribute("val") ?? "";
      if (name === "vanish") hidden.set(style, isOn(attribute));
      if (name === "basedOn") bases.set(style, value);
      if (name === "name" && /^title$/i.test(value)) headings.set(style, 1);
      const level = /^heading ([1-6])$/i.exec(value)?.[1];
      if (name === "name" && level) headings.set(style, Number(level));
      if (name === "outlineLvl" && Number(value) < 6) headings.set(style, Number(value) + 1);
      if (name === "numPr") lists.set(style, { list: null, level: 0 });
      const place = lists.get(style);
      if (name === "numId" && place) place.list = value;
      if (name === "ilvl" && place) place.level = Math.min(8, Math.max(0, Math.floor(Number(value)) || 0));
    },
    close(name) {
      // Word 2003 has its text in the same file.
      if (name === "style") style = "";
    },
  });
  for (const one of bases.keys()) {
    for (const found of [headings, lists, hidden] as Map<string, unknown>[]) {
      let base: string | undefined = one;
      for (let left = maxDepth; left > 0 && base !== undefined && !found.has(base); left--) base = bases.get(base);
      if (base !== undefined && found.has(base)) found.set(one, found.get(base));
    }
  }
  return { headings, lists, hidden };
}

/** True if a property without a value, or with a true one, is set. */
export const isOn = (attribute: Attributes): boolean => !/^(?:0|false|off)$/i.test(attribute("val") ?? "");
