import { type getDocumentProxy, getResolvedPDFJS } from "unpdf";

type Page = Awaited<ReturnType<Awaited<ReturnType<typeof getDocumentProxy>>["getPage"]>>;

/** A glyph that PDF.js would draw; a number in its place moves the next one, in thousandths of the font's size. */
type Glyph = { unicode?: string } | number | null;

/** A move to the left by less than this is between letters. */
const spaceAt = -200;

/** Returns the texts that annotations draw, by their ids. PDF.js tells of them only when it prepares to draw a page. */
export async function drawnTexts(page: Page): Promise<Map<string, string>> {
  const { OPS } = await getResolvedPDFJS();
  const texts = new Map<string, string>();
  const list = await page.getOperatorList().catch(() => null);
  let [id, text] = ["", ""];
  for (const [at, operation] of (list?.fnArray ?? []).entries()) {
    const args: unknown[] = list?.argsArray[at] ?? [];
    if (operation === OPS.beginAnnotation) [id, text] = [String(args[0]), ""];
    else if (operation === OPS.endAnnotation) texts.set(id, text.replace(/\s+/g, " ").trim());
    else if (operation === OPS.showText) text += textOf(args[0] as Glyph[]);
    else if (operation === OPS.moveText) text += args[1] === 0 ? "" : " ";
    else if (operation === OPS.setTextMatrix || operation === OPS.nextLine || operation === OPS.beginText) text += " ";
  }
  return texts;
}

const textOf = (glyphs: readonly Glyph[]): string =>
  glyphs.map((glyph) => (typeof glyph === "number" ? (glyph < spaceAt ? " " : "") : (glyph?.unicode ?? ""))).join("");
