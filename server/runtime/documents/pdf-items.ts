import type { getDocumentProxy } from "unpdf";
import type { CharacterMaps } from "./character-maps.ts";
import { hearSkipped, isUnreadable } from "./pdf-faults.ts";
import type { PdfItem } from "./pdf-lines.ts";

type Page = Awaited<ReturnType<Awaited<ReturnType<typeof getDocumentProxy>>["getPage"]>>;

/** An item of PDF.js. One of vertical text (`ttb`) is as wide as its font, and as high as it is long. */
interface DrawnItem extends PdfItem {
  dir: string;
}

/** Returns the text items of a page, and the losses of its text in words. */
export async function readItems(page: Page, maps: CharacterMaps): Promise<{ items: PdfItem[]; faults: string[] }> {
  const wasMixed = maps.isMixed();
  const { result, isSkipped } = await hearSkipped(() => page.getTextContent());
  const items = result.items.filter((item) => "str" in item).map(itemFrom);
  const faults = [
    isSkipped && "A font or a part of the page cannot be read: its text is missing, and may be missing on later pages.",
    maps.isMixed() && !wasMixed && "A font mixes the characters of two languages: its text may be nonsense.",
    isUnreadable(items) && "A font does not say which letters it shows: a part of the text may be nonsense.",
  ];
  return { items, faults: faults.filter((fault) => fault !== false) };
}

/** Gives vertical text the height of its font, and the punctuation that search knows. */
const itemFrom = ({ dir, ...item }: DrawnItem): PdfItem =>
  dir === "ttb"
    ? { ...item, str: item.str.replace(verticalForms, usualForm), height: item.width, down: item.height }
    : item;

/** Punctuation as vertical text draws it. */
const verticalForms = /[\ufe10-\ufe19\ufe30-\ufe48]/g;

const usualForm = (form: string): string => form.normalize("NFKC");
