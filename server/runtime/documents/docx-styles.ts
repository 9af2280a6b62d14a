import type { ListPlace } from "./docx-numbering.ts";
import { readXml } from "./xml.ts";

/** Headings and lists that paragraph styles stand for, by style id. */
export interface DocxStyles {
  headings: Map<string, number>;
  lists: Map<string, ListPlace>;
}

/** Maximum depth of style inheritance, so that a cycle ends. */
const maxDepth = 20;

export function stylesOf(content: Uint8Array | null): DocxStyles {
  const [headings, lists, bases] = [new Map<string, number>(), new Map<string, ListPlace>(), new Map<string, string>()];
  let style = "";
  if (content === null) return { headings, lists };
  readXml(content, {
    open(name, attribute) {
      if (name === "style") style = attribute("styleId") ?? "";
      const value = attribute("val") ?? "";
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
  });
  for (const one of bases.keys()) {
    for (const found of [headings, lists] as Map<string, unknown>[]) {
      let base: string | undefined = one;
      for (let left = maxDepth; left > 0 && base !== undefined && !found.has(base); left--) base = bases.get(base);
      if (base !== undefined && found.has(base)) found.set(one, found.get(base));
    }
  }
  return { headings, lists };
}
