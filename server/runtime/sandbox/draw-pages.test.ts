import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { imageSize } from "../../domain/image-size.ts";
import { pdfFrom, pdfOf, streamOf } from "../../testing/documents.ts";
import { mimeTypes } from "../../testing/hostile-documents/hostile-document.ts";
import { hostileImages } from "../../testing/hostile-documents/images.ts";
import { hostileDocuments } from "../../testing/hostile-documents.ts";
import { pageImageBounds } from "../documents/bounds.ts";
import { startChild } from "./child-process.ts";
import { createDocumentReader } from "./document-reader.ts";
import { encodePacket } from "./packet.ts";
import { type PagesOrder, pagesTask } from "./pages-task.ts";

// Ends a hang only: children have the lowest priority.
setDefaultTimeout(180_000);

const reader = createDocumentReader({ level: () => "strict" });
afterAll(() => reader.stop());

const never = new AbortController().signal;
const order = (bytes: Uint8Array, count: number): PagesOrder => ({ bytes: bytes.length, count, content: [bytes] });
const draw = (bytes: Uint8Array, count = 20) => reader.draw(order(bytes, count), never);

/** A PDF with one filled rectangle on each page, `fills` its colours. */
const coloured = (...fills: string[]) =>
  pdfFrom([
    "<< /Type /Catalog /Pages 2 0 R >>",
    `<< /Type /Pages /Count ${fills.length} /Kids [${fills.map((_, at) => `${3 + 2 * at} 0 R`).join(" ")}] >>`,
    ...fills.flatMap((fill, at) => [
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents ${4 + 2 * at} 0 R >>`,
      streamOf(`${fill} rg 0 0 595 842 re f`),
    ]),
  ]);

/** Returns red, green and blue in the middle of an image. */
async function colourOf(image: Uint8Array): Promise<string> {
  const png = await new Bun.Image(image).resize(1, 1).png({ compressionLevel: 0 }).bytes();
  const pixels = Bun.inflateSync(chunkOf(png, "IDAT").slice(2, -4));
  return [1, 2, 3].map((at) => (pixels[at]! > 128 ? "1" : "0")).join("");
}

function chunkOf(png: Uint8Array, name: string): Uint8Array<ArrayBuffer> {
  const at = Buffer.from(png).indexOf(name);
  return new Uint8Array(png.slice(at + 4, at + 4 + new DataView(png.buffer, png.byteOffset).getUint32(at - 4)));
}

describe("pages of a PDF", () => {
  test("are drawn in a jailed child, in order and in their colours, as JPEG of the size that models take", async () => {
    const images = await draw(coloured("1 0 0", "0 1 0", "0 0 1"));
    expect(await Promise.all(images.map((image) => colourOf(image!)))).toEqual(["100", "010", "001"]);
    for (const image of images) expect(imageSize(image!)).toEqual({ width: 949, height: pageImageBounds.side });
  });

  test("are drawn from the first, as many as are asked for", async () => {
    expect(await draw(pdfOf(["one", "two", "three"]), 2)).toHaveLength(2);
    expect(await draw(pdfOf(["one"]), 2)).toHaveLength(1);
  });

  test("that are damaged are left out, and the others are drawn", async () => {
    const broken = pdfFrom([
      "<< /Type /Catalog /Pages 2 0 R >>",
      "<< /Type /Pages /Count 2 /Kids [3 0 R 4 0 R] >>",
      "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 0 0] /CropBox [0 0 0 0] /Contents 9 0 R >>",
      "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 100 100] >>",
    ]);
    const images = await draw(broken);
    expect(images.at(-1)).toBeInstanceOf(Uint8Array);
    expect(images).toHaveLength(2);
  });

  test("of any size have the longer side that models take", async () => {
    for (const box of ["0 0 14400 10", "0 0 3 14400", "0 0 1 1"]) {
      const [image] = await draw(
        pdfFrom([
          "<< /Type /Catalog /Pages 2 0 R >>",
          "<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
          `<< /Type /Page /Parent 2 0 R /MediaBox [${box}] >>`,
        ]),
      );
      const { width, height } = imageSize(image!)!;
      expect(Math.max(width, height)).toBe(pageImageBounds.side);
    }
  });

  test("of no readable PDF, of none that is too large, and without a sandbox are none", async () => {
    expect(await draw(new TextEncoder().encode("no PDF"))).toEqual([]);
    expect(await draw(new Uint8Array())).toEqual([]);
    expect(await reader.draw({ bytes: 101 * 2 ** 20, count: 1, content: [] }, never)).toEqual([]);
    const off = createDocumentReader({ level: () => "off" });
    expect(await off.draw(order(pdfOf(["one"]), 1), never)).toEqual([]);
  });
});

const hostile = [...hostileDocuments, ...hostileImages].filter(({ mime_type }) => mime_type === mimeTypes.pdf);

test.each(hostile)("a hostile PDF has a clear end, drawn or not: $name", async ({ content }) => {
  const images = await draw(await content(), 3);
  expect(images.length).toBeLessThanOrEqual(3);
});

const octal = (bytes: Uint8Array) => Array.from(bytes, (byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");

test("a compromised child cannot pass on anything but images of pages", async () => {
  const [ready, started, end] = [encodePacket("ready"), encodePacket("started"), encodePacket("ended")];
  const jpeg = await new Bun.Image((await draw(pdfOf(["one"])))[0]!).resize(4, 4).jpeg().bytes();
  const large = await new Bun.Image(jpeg)
    .resize(pageImageBounds.side + 1, 1)
    .jpeg()
    .bytes();
  const png = await new Bun.Image(jpeg).png().bytes();
  const from = async (...packets: Uint8Array[]) => {
    const written = octal(Buffer.concat([started, ...packets]));
    const command = ["/bin/sh", "-c", `printf '${octal(ready)}'; head -c 4 >/dev/null; printf '${written}'`];
    const child = startChild({ language: "pages", jailed: false, command });
    return (await child.perform(pagesTask(order(pdfOf(["one"]), 2)), never)).length;
  };
  const image = (bytes: Uint8Array) => encodePacket("image", new Uint8Array(bytes));
  expect(await from(image(jpeg), image(jpeg), end)).toBe(2);
  expect(await from(image(jpeg), image(png), end)).toBe(1);
  expect(await from(image(large), end)).toBe(0);
  expect(await from(image(new TextEncoder().encode("text")), end)).toBe(0);
  expect(await from(encodePacket("chunks", new TextEncoder().encode("[]")), end)).toBe(0);
  expect(await from(image(jpeg), image(jpeg), image(jpeg), end)).toBe(2);
});
