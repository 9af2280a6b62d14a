import { openDrawer, type PageDrawer } from "./draw-pages.ts";
import { formatOf } from "./formats.ts";
import type { Ocr } from "./ocr.ts";
import { enlarged } from "./parse-image.ts";
import type { Paragraphs } from "./scans.ts";

/** Reads pages of a PDF, or the one of an image, with OCR. Throws a DocumentError if the image cannot be read. */
export async function* readScans(
  bytes: Uint8Array,
  { mime_type, pages }: { mime_type: string; pages: readonly number[] },
  ocr: Ocr,
): AsyncGenerator<[number, Paragraphs]> {
  if (formatOf(mime_type) === "image") return yield [1, ocr(await enlarged(bytes))];
  const drawer = await openDrawer(bytes).catch(() => null);
  for (const page of pages) yield [page, drawer ? read(drawer, page, ocr) : []];
}

/** Returns no text if the page cannot be drawn. */
function read(drawer: PageDrawer, page: number, ocr: Ocr): Paragraphs {
  try {
    return ocr(drawer.scan(page));
  } catch {
    return [];
  }
}
