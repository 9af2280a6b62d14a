import { expect, test } from "bun:test";
import { imageSize } from "./image-size.ts";

const bytes = (...parts: (string | number[])[]): Uint8Array =>
  Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part, "latin1") : Buffer.from(part))));

test.each<[string, Uint8Array, object | null]>([
  [
    "PNG",
    bytes("\x89PNG\r\n\x1a\n", [0, 0, 0, 13], "IHDR", [0, 0, 0x1f, 0x40, 0, 0, 0, 90]),
    { width: 8000, height: 90 },
  ],
  ["GIF", bytes("GIF89a", [0x40, 0x1f, 90, 0]), { width: 8000, height: 90 }],
  [
    "JPEG behind its metadata",
    bytes([0xff, 0xd8, 0xff, 0xe1, 0, 6], "Exif", [0xff, 0xff, 0xc2, 0, 17, 8, 0, 90, 0x1f, 0x40, 3]),
    { width: 8000, height: 90 },
  ],
  [
    "WebP, extended",
    bytes("RIFF", [0, 0, 0, 0], "WEBPVP8X", [10, 0, 0, 0, 0, 0, 0, 0], [0x3f, 0x1f, 0, 89, 0, 0]),
    { width: 8000, height: 90 },
  ],
  [
    "WebP, lossy",
    bytes("RIFF", [0, 0, 0, 0], "WEBPVP8 ", [0, 0, 0, 0, 0, 0, 0, 0x9d, 1, 0x2a], [0x40, 0x1f, 90, 0]),
    { width: 8000, height: 90 },
  ],
  [
    "WebP, lossless",
    bytes("RIFF", [0, 0, 0, 0], "WEBPVP8L", [0, 0, 0, 0, 0x2f], [0x3f, 0x5f, 0x16, 0]),
    { width: 8000, height: 90 },
  ],
  ["a cut header", bytes("\x89PNG\r\n"), null],
  ["a JPEG without a frame", bytes([0xff, 0xd8, 0xff, 0xe0, 0, 2, 0]), null],
  ["no image", bytes("Hello, this is text."), null],
  ["nothing", bytes(), null],
])("the size of %s is read", (_, content, size) => {
  expect(imageSize(content)).toEqual(size as never);
});
