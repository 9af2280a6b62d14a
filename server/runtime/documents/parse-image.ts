import { ocrBounds } from "./bounds.ts";
import { DocumentError, noTextInImages, OcrRequired, tooLarge, unreadable } from "./document-error.ts";
import type { Outline } from "./outline.ts";
import type { Scans } from "./scans.ts";

/** Outlines the text that OCR has read in an image. Returns one page, with boxes. */
export function parseImage(outline: Outline, scans: Scans | null): number {
  if (scans === null) throw new OcrRequired([1], 1);
  const paragraphs = scans.read.get(1) ?? [];
  if (paragraphs.length === 0) throw new DocumentError("document_empty", noTextInImages);
  outline.page(1, { isScan: true });
  for (const lines of paragraphs) outline.lines(lines);
  return 1;
}

/** Scales an image to a size that suits OCR: photos have more pixels than needed, screenshots fewer. Returns a PNG. */
export async function enlarged(bytes: Uint8Array): Promise<Uint8Array> {
  const image = new Bun.Image(bytes, { maxPixels: ocrBounds.inputPixels });
  try {
    const { width, height } = await image.metadata();
    const factor = Math.min(3, Math.sqrt(ocrBounds.pixels / (width * height)));
    const [columns, rows] = [width, height].map((side) => Math.max(1, Math.floor(side * factor))) as [number, number];
    return await image.resize(columns, rows).modulate({ saturation: 0 }).png({ compressionLevel: 1 }).bytes();
  } catch (error) {
    if ((error as { code?: unknown }).code === "ERR_IMAGE_TOO_MANY_PIXELS")
      throw tooLarge(`The image has more than ${ocrBounds.inputPixels} pixels.`);
    throw unreadable("It is not a readable image.");
  }
}
