import { ocrBounds } from "./bounds.ts";
import { openDrawer, type PageDrawer } from "./draw-pages.ts";
import { enlarged } from "./enlarge-image.ts";
import { formatOf } from "./formats.ts";
import type { Ocr } from "./ocr.ts";
import type { Paragraphs, Scans } from "./scans.ts";

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

/** Reads the pages in this process, as far as the limits of OCR allow. */
export async function readScansHere(
  bytes: Uint8Array,
  { mime_type, pages }: { mime_type: string; pages: readonly number[] },
  ocr: Ocr,
): Promise<Scans> {
  const read = new Map<number, Paragraphs>();
  const before = process.cpuUsage();
  const order = { mime_type, pages: pages.slice(0, ocrBounds.pages) };
  for await (const [page, paragraphs] of readScans(bytes, order, ocr)) {
    read.set(page, paragraphs);
    const { user, system } = process.cpuUsage(before);
    if ((user + system) / 1000 > ocrBounds.time_ms) break;
  }
  return { read, left: pages.filter((page) => !read.has(page)), lost: [] };
}

/** Returns no text if the page cannot be drawn. */
function read(drawer: PageDrawer, page: number, ocr: Ocr): Paragraphs {
  try {
    return ocr(drawer.scan(page));
  } catch {
    return [];
  }
}
