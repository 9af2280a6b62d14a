import { deflateSync } from "node:zlib";
import { pdfFrom, streamOf } from "./documents.ts";

/** Gray pixels of a page, from the top. */
interface Pixels {
  width: number;
  height: number;
  gray: Uint8Array;
}

/** Reads a PGM. */
export function pixelsOf(file: Uint8Array): Pixels {
  const [head = "", width, height] =
    /^P5\n(\d+) (\d+)\n255\n/.exec(Buffer.from(file.subarray(0, 40)).toString("latin1")) ?? [];
  return { width: Number(width), height: Number(height), gray: file.subarray(head.length) };
}

const dark = 128;

/** The same page as producers of PDFs draw it, without a letter of text. */
export const drawnPages: Record<string, (pixels: Pixels) => Uint8Array<ArrayBuffer>> = {
  "outlines, without an image": (pixels) => pageOf(pixels, outlines(pixels).join("\n")),
  "strips, an image for each": (pixels) => {
    const strips = stripsOf(pixels, 60, "/ColorSpace /DeviceGray ");
    return pageOf(pixels, strips.map(({ place }, at) => `q ${place} cm /I${at} Do Q`).join("\n"), strips);
  },
  "a mask of one bit": (pixels) => {
    const strips = stripsOf(pixels, pixels.height, "/ImageMask true ");
    return pageOf(pixels, strips.map(({ place }, at) => `0 g q ${place} cm /I${at} Do Q`).join("\n"), strips);
  },
  "letters of a font that does not name them": (pixels) => {
    const font = `<< /Type /Font /Subtype /Type3 /FontBBox [0 0 ${pixels.width} ${pixels.height}] /FontMatrix [1 0 0 1 0 0]
      /FirstChar 1 /LastChar 1 /Widths [${pixels.width}] /Encoding << /Type /Encoding /Differences [1 /g1] >>
      /CharProcs << /g1 5 0 R >> /Resources << >> >>`;
    const letter = streamOf(`${pixels.width} 0 d0\n${outlines(pixels).join("\n")}`);
    return pdfFrom([
      "<< /Type /Catalog /Pages 2 0 R >>",
      "<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
      pageObject(pixels, "/Font << /F 6 0 R >>"),
      streamOf("BT /F 1 Tf (\x01) Tj ET"),
      letter,
      font,
    ]);
  },
};

const pageObject = ({ width, height }: Pixels, resources: string): string =>
  `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${width} ${height}] /UserUnit ${72 / 300} /Resources << ${resources} >> /Contents 4 0 R >>`;

interface Strip {
  image: string;
  place: string;
}

const pageOf = (pixels: Pixels, content: string, strips: readonly Strip[] = []): Uint8Array<ArrayBuffer> =>
  pdfFrom([
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
    pageObject(pixels, `/XObject << ${strips.map((_, at) => `/I${at} ${5 + at} 0 R`).join(" ")} >>`),
    streamOf(content),
    ...strips.map(({ image }) => image),
  ]);

/** Returns a rectangle for each run of dark pixels. */
function outlines({ width, height, gray }: Pixels): string[] {
  const runs: string[] = [];
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const start = x;
      while (x < width && gray[y * width + x]! < dark) x++;
      if (x > start) runs.push(`${start} ${height - y - 1} ${x - start} 1 re f`);
    }
  return runs;
}

/** Returns images of one bit per pixel, of so many rows each. */
function stripsOf({ width, height, gray }: Pixels, rows: number, kind: string): Strip[] {
  const stride = Math.ceil(width / 8);
  const strips: Strip[] = [];
  for (let top = 0; top < height; top += rows) {
    const count = Math.min(rows, height - top);
    const bits = new Uint8Array(stride * count);
    for (let y = 0; y < count; y++)
      for (let x = 0; x < width; x++)
        if (gray[(top + y) * width + x]! >= dark) bits[y * stride + (x >> 3)]! |= 128 >> (x & 7);
    const head = `/Type /XObject /Subtype /Image /Width ${width} /Height ${count} /BitsPerComponent 1 /Filter /FlateDecode ${kind}`;
    const image = streamOf(deflateSync(bits).toString("latin1"), head);
    strips.push({ image, place: `${width} 0 0 ${count} 0 ${height - top - count}` });
  }
  return strips;
}
