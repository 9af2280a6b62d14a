import { ocrBounds } from "./bounds.ts";
import { tooLarge, unreadable } from "./document-error.ts";

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
