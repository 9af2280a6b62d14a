import type { getDocumentProxy } from "unpdf";
import type { CharacterMaps } from "./character-maps.ts";
import { hearSkipped, isUnreadable } from "./pdf-faults.ts";
import type { GlyphNames } from "./pdf-glyph-names.ts";
import type { PdfItem } from "./pdf-item.ts";

type Page = Awaited<ReturnType<Awaited<ReturnType<typeof getDocumentProxy>>["getPage"]>>;

/** An item of PDF.js. One of vertical text (`ttb`) is as wide as its font, and as high as it is long. */
interface DrawnItem extends PdfItem {
  dir: string;
}

interface PageItems {
  items: readonly PdfItem[];
  faults: string[];
}

/** Returns the text items of a page, and the losses of its text in words. */
export async function readItems(page: Page, maps: CharacterMaps, glyphs: GlyphNames): Promise<PageItems> {
  const wasMixed = maps.isMixed();
  const { result, isSkipped } = await hearSkipped(() => contentOf(page));
  const drawn = result.items.filter((item) => "str" in item);
  const isUsual = drawn.every(({ dir, str }) => dir !== "ttb" && usual.test(str));
  const items = isUsual ? drawn : await glyphs.named(page, drawn.map(itemFrom));
  const faults = [
    isSkipped && "A font or a part of the page cannot be read: its text is missing, and may be missing on later pages.",
    maps.isMixed() && !wasMixed && "A font mixes the characters of two languages: its text may be nonsense.",
    !isUsual &&
      isUnreadable(items) &&
      "A font does not say which letters it shows: a part of the text may be nonsense.",
  ];
  return { items, faults: faults.filter((fault) => fault !== false) };
}

/**
 * Returns the text as PDF.js orders it, with its own characters: PDF.js would write a ligature of Arabic as letters
 * first, and then reverse them. It does not know the forms of Hebrew letters, which it must write as letters first.
 */
async function contentOf(page: Page) {
  const content = await page.getTextContent({ disableNormalization: true });
  const isHebrew = content.items.some((item) => "str" in item && /[\ufb1d-\ufb4f]/.test(item.str));
  return isHebrew ? page.getTextContent() : content;
}

/** Characters of most pages, which none of the following concerns: it would take a tenth of the time of a page. */
const usual =
  /^[\x20-\x7e\xa1-\xac\xae-\xb4\xb6-\u0377\u2010-\u2027\u2030-\u205f\u20a0-\u20bf\u2190-\u22ff\u3000-\u9fff]*$/;

/** Gives an item the letters and signs that search knows, and vertical text the height of its font. */
function itemFrom(item: DrawnItem): PdfItem {
  if (item.dir !== "ttb" && item.str.search(forms) < 0) return item;
  const str = item.str.replace(forms, usualForm);
  return item.dir === "ttb" ? { ...item, str, height: item.width, down: item.height } : { ...item, str };
}

/** Ligatures, letters in the form of their place in a word, punctuation of vertical text, and spaces of any width. */
const forms =
  /[\u00a0\u00b5\u037e\u0eb3\u2000-\u200a\u202f\u2126\ufb00-\ufb4f\ufb50-\ufdff\ufe10-\ufe19\ufe30-\ufe48\ufe70-\ufefc]/g;

/** A mark that stands alone has a space before it as a form, which would split its word. */
const usualForm = (form: string): string =>
  /[\ufc5e-\ufc63\ufe70-\ufe7f]/.test(form) ? form.normalize("NFKC").trim() : form.normalize("NFKC");
