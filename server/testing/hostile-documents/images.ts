import { readFileSync } from "node:fs";
import { crc32, deflateSync } from "node:zlib";
import { pdfFrom, streamOf } from "../documents.ts";
import { type HostileDocument, megabyte, mimeTypes, noise } from "./hostile-document.ts";
import { catalogue, onePage, page } from "./pdf-parts.ts";

/** The same for images, and for PDFs that consist of images. Only a child process with OCR reads them. */
export interface HostileImage extends Omit<HostileDocument, "content"> {
  content: () => Uint8Array | Promise<Uint8Array>;
}

const imageTypes = { png: "image/png", jpeg: "image/jpeg", webp: "image/webp", gif: "image/gif", pdf: mimeTypes.pdf };

const hostileImage = (
  kind: keyof typeof imageTypes,
  name: string,
  content: HostileImage["content"],
  ...expected: HostileDocument["expected"]
): HostileImage => ({ name: `${kind}: ${name}`, mime_type: imageTypes[kind], content, expected, heavy: true });

const scan = () => new Uint8Array(readFileSync(new URL("../scans/scan.png", import.meta.url)));
const jpeg = () => new Bun.Image(scan()).jpeg({ quality: 80 }).bytes();
const webp = () => new Bun.Image(scan()).webp({ quality: 80 }).bytes();

/** Returns a PNG that declares this size, with these bytes compressed as its pixels. */
function pngOf(width: number, height: number, pixels: Uint8Array): Uint8Array {
  const part = (name: string, data: Uint8Array) => {
    const named = Buffer.concat([Buffer.from(name), data]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    sum.writeUInt32BE(crc32(named));
    return Buffer.concat([length, named, sum]);
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head[8] = 8; // Bits per pixel, in gray.
  return Buffer.concat([
    Buffer.from("89504e470d0a1a0a", "hex"),
    part("IHDR", head),
    part("IDAT", deflateSync(pixels)),
    part("IEND", new Uint8Array()),
  ]);
}

/** Returns a PDF page that draws these images, each given by its dictionary and its bytes. */
const scanOf = (...images: string[]) =>
  pdfFrom([
    catalogue,
    onePage,
    page("4 0 R", `/Resources << /XObject << ${images.map((_, at) => `/I${at} ${5 + at} 0 R`).join(" ")} >> >> `),
    streamOf(images.map((_, at) => `q 500 0 0 500 0 0 cm /I${at} Do Q`).join("\n")),
    ...images,
  ]);
const pixelsOf = (width: number, height: number, bytes: string, more = "") =>
  streamOf(
    bytes,
    `/Type /XObject /Subtype /Image /Width ${width} /Height ${height} /BitsPerComponent 8 /ColorSpace /DeviceGray ${more}`,
  );
/** Returns this number of zeros, compressed to a thousandth. */
const packedZeros = (bytes: number) => deflateSync(new Uint8Array(bytes)).toString("latin1");

export const hostileImages: readonly HostileImage[] = [
  hostileImage("png", "1.6 billion pixels in its head", () => pngOf(40_000, 40_000, noise(9)), "document_too_large"),
  hostileImage(
    "png",
    "a size beyond all numbers",
    () => pngOf(2 ** 32 - 1, 2 ** 32 - 1, noise(9)),
    "document_too_large",
    "document_unreadable",
  ),
  hostileImage("png", "no size", () => pngOf(0, 0, noise(9)), "document_unreadable"),
  hostileImage(
    "png",
    "a line a million pixels long",
    () => pngOf(1_000_000, 1, new Uint8Array(1_000_001)),
    "document_empty",
    "document_unreadable",
  ),
  hostileImage(
    "png",
    "49 million pixels in a few kilobytes",
    () => pngOf(7000, 7000, new Uint8Array(7001 * 7000)),
    "document_empty",
    "document_out_of_memory",
  ),
  hostileImage(
    "png",
    "too few pixels",
    () => pngOf(3000, 3000, new Uint8Array(3001)),
    "document_unreadable",
    "document_empty",
  ),
  hostileImage("png", "cut off", () => scan().subarray(0, 5000), "document_unreadable"),
  hostileImage("png", "nothing but its first bytes", () => scan().subarray(0, 8), "document_unreadable"),
  hostileImage(
    "jpeg",
    "cut off",
    async () => (await jpeg()).subarray(0, 3000),
    "document_unreadable",
    "document_empty",
    "text",
  ),
  hostileImage(
    "jpeg",
    "4.3 billion pixels in its head",
    async () => withSize(await jpeg()),
    "document_too_large",
    "document_unreadable",
  ),
  hostileImage(
    "webp",
    "cut off",
    async () => (await webp()).subarray(0, 3000),
    "document_unreadable",
    "document_empty",
    "text",
  ),
  hostileImage(
    "gif",
    "4.3 billion pixels in its head",
    () => Buffer.from("474946383961ffffffff0000002c00000000ffffffff0002", "hex"),
    "document_too_large",
    "document_unreadable",
  ),
  hostileImage("pdf", "images and no text", () => scanOf(pixelsOf(1, 1, "\xff")), "document_empty"),
  hostileImage(
    "pdf",
    "an image of 3.6 billion pixels",
    () => scanOf(pixelsOf(60_000, 60_000, packedZeros(10 * megabyte), "/Filter /FlateDecode ")),
    "document_empty",
  ),
  hostileImage(
    "pdf",
    "an image that is larger than its bytes",
    () => scanOf(pixelsOf(6000, 6000, "\0")),
    "document_empty",
  ),
  hostileImage(
    "pdf",
    "a hundred images of 49 million pixels",
    () => scanOf(...Array<string>(100).fill(pixelsOf(7000, 7000, packedZeros(49_000_000), "/Filter /FlateDecode "))),
    "document_empty",
    "document_out_of_memory",
  ),
];

/** Returns the JPEG with a declared size of 65,535 × 65,535 pixels. */
function withSize(image: Uint8Array): Uint8Array {
  const at = image.findIndex(
    (byte, index) => byte === 0xff && (image[index + 1] === 0xc0 || image[index + 1] === 0xc2),
  );
  return image.fill(0xff, at + 5, at + 9);
}
