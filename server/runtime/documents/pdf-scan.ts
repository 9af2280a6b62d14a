import { type getDocumentProxy, getResolvedPDFJS } from "unpdf";

type Page = Awaited<ReturnType<Awaited<ReturnType<typeof getDocumentProxy>>["getPage"]>>;

/** Numbers of the paths of about ten letters; a form without words has fewer, such as rules and boxes. */
const leastPath = 400;

/**
 * True if a page without text may have letters that only OCR reads: in images, as drawn outlines, or in a font that
 * does not say which letters it has.
 */
export async function mayHaveLetters(page: Page): Promise<boolean> {
  const { OPS } = await getResolvedPDFJS();
  const images = new Set<number>([
    OPS.paintImageXObject,
    OPS.paintImageXObjectRepeat,
    OPS.paintInlineImageXObject,
    OPS.paintInlineImageXObjectGroup,
    OPS.paintImageMaskXObject,
    OPS.paintImageMaskXObjectGroup,
    OPS.paintImageMaskXObjectRepeat,
  ]);
  const { fnArray, argsArray } = await page.getOperatorList();
  let path = 0;
  for (const [at, operation] of fnArray.entries()) {
    if (images.has(operation)) return true;
    const [first, data]: unknown[] = argsArray[at] ?? [];
    if (operation === OPS.showText && Array.isArray(first) && first.some(isLetter)) return true;
    // A path that only clips is not seen.
    if (operation === OPS.constructPath && first !== OPS.endPath) path += numbersIn(data);
    if (path > leastPath) return true;
  }
  return false;
}

/** True for a glyph that is no space; gaps in a text are numbers. */
function isLetter(value: unknown): boolean {
  const { unicode, isSpace } = Object(value) as Record<string, unknown>;
  return typeof unicode === "string" && unicode.trim() !== "" && isSpace !== true;
}

const numbersIn = (data: unknown): number =>
  Array.isArray(data) ? data.reduce((sum: number, part) => sum + (Object(part).length ?? 0), 0) : 0;
