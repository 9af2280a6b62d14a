import { type getDocumentProxy, getResolvedPDFJS } from "unpdf";
import { ocrBounds } from "./bounds.ts";

type Page = Awaited<ReturnType<Awaited<ReturnType<typeof getDocumentProxy>>["getPage"]>>;

type Matrix = readonly [a: number, b: number, c: number, d: number, e: number, f: number];

/** An image as PDF.js represents it; `kind` is its pixel format. */
interface Pixels {
  width: number;
  height: number;
  kind: number;
  data: Uint8Array | Uint8ClampedArray;
}

/** An image and the matrix that maps the unit square (from the bottom left) to its place on the page. */
interface PlacedImage {
  pixels: Pixels;
  place: Matrix;
}

/** Returns the images that a page draws, with their places. */
export async function imagesOn(page: Page): Promise<PlacedImage[]> {
  const { OPS } = await getResolvedPDFJS();
  const { fnArray, argsArray } = await page.getOperatorList();
  const drawn: PlacedImage[] = [];
  const matrixStack: Matrix[] = [];
  let now = page.getViewport({ scale: 1 }).transform as unknown as Matrix;
  for (const [at, operation] of fnArray.entries()) {
    const args: unknown[] = argsArray[at] ?? [];
    if (operation === OPS.save) matrixStack.push(now);
    else if (operation === OPS.restore) now = matrixStack.pop() ?? now;
    else if (operation === OPS.transform) now = multiply(now, args as unknown as Matrix);
    else if (operation === OPS.paintFormXObjectBegin) {
      matrixStack.push(now);
      if (args[0]) now = multiply(now, args[0] as Matrix);
    } else if (operation === OPS.paintFormXObjectEnd) now = matrixStack.pop() ?? now;
    else if (operation === OPS.paintImageXObject || operation === OPS.paintInlineImageXObject) {
      const pixels = typeof args[0] === "string" ? await objectOf(page, args[0]) : args[0];
      if (isPixels(pixels)) drawn.push({ pixels, place: now });
    }
    if (drawn.length > ocrBounds.images) break;
  }
  return drawn;
}

/** Multiplies matrices: applies the inner one first. */
const multiply = ([a, b, c, d, e, f]: Matrix, [g, h, i, j, k, l]: Matrix): Matrix => [
  a * g + c * h,
  b * g + d * h,
  a * i + c * j,
  b * i + d * j,
  a * k + c * l + e,
  b * k + d * l + f,
];

const objectOf = (page: Page, name: string): Promise<unknown> =>
  new Promise((resolve) => (name.startsWith("g_") ? page.commonObjs : page.objs).get(name, resolve));

function isPixels(value: unknown): value is Pixels {
  const { width, height, kind, data } = Object(value) as Record<string, unknown>;
  if (typeof width !== "number" || typeof height !== "number" || !ArrayBuffer.isView(data)) return false;
  return bytesOf(width, height, kind) <= data.byteLength;
}

/** Bytes of an image; `ImageKind` of PDF.js is one bit, three bytes or four bytes per pixel. */
const bytesOf = (width: number, height: number, kind: unknown): number =>
  kind === 1
    ? ((width + 7) >> 3) * height
    : kind === 2
      ? 3 * width * height
      : kind === 3
        ? 4 * width * height
        : Infinity;

const [black, white] = [0, 255];
const pointsPerInch = 72;

/** Renders a page's images in gray as PGM, at 300 dpi or less if that exceeds the limit. */
export function renderPage(
  images: readonly PlacedImage[],
  { width, height }: { width: number; height: number },
): Uint8Array {
  const scale = Math.min(ocrBounds.dpi / pointsPerInch, Math.sqrt(ocrBounds.pixels / (width * height)));
  const [columns, rows] = [Math.max(1, Math.floor(width * scale)), Math.max(1, Math.floor(height * scale))];
  const head = new TextEncoder().encode(`P5\n${columns} ${rows}\n255\n`);
  const file = new Uint8Array(head.length + columns * rows).fill(white);
  file.set(head);
  const canvas = file.subarray(head.length);
  for (const { pixels, place } of images) paint(canvas, columns, rows, pixels, scaled(place, scale));
  return file;
}

const scaled = (matrix: Matrix, scale: number) => matrix.map((value) => value * scale) as unknown as Matrix;

/**
 * Draws an image: each canvas pixel is mapped back to the image and interpolated; if the image is larger, several
 * samples are averaged.
 */
function paint(canvas: Uint8Array, columns: number, rows: number, pixels: Pixels, [a, b, c, d, e, f]: Matrix): void {
  const area = a * d - b * c;
  if (!Number.isFinite(area) || area === 0) return;
  const [xs, ys] = [
    [e, e + a, e + c, e + a + c],
    [f, f + b, f + d, f + b + d],
  ];
  const from = { x: Math.max(0, Math.floor(Math.min(...xs))), y: Math.max(0, Math.floor(Math.min(...ys))) };
  const to = { x: Math.min(columns, Math.ceil(Math.max(...xs))), y: Math.min(rows, Math.ceil(Math.max(...ys))) };
  const { width, height } = pixels;
  const gray = grayOf(pixels);
  // One pixel of the canvas, as a vector in image pixels.
  const [right, down] = [
    [(d / area) * width, (b / area) * height],
    [(-c / area) * width, (-a / area) * height],
  ] as const;
  const reach = Math.max(Math.hypot(...right), Math.hypot(...down));
  const samples = Math.min(4, Math.max(1, Math.round(reach)));
  for (let y = from.y; y < to.y; y++)
    for (let x = from.x; x < to.x; x++) {
      let [sum, count] = [0, 0];
      for (let sample = 0; sample < samples * samples; sample++) {
        const [dx, dy] = [
          x + ((sample % samples) + 0.5) / samples - e,
          y + (Math.floor(sample / samples) + 0.5) / samples - f,
        ];
        const u = ((d * dx - c * dy) / area) * width - 0.5;
        // The first row of an image is its top.
        const v = (1 - (a * dy - b * dx) / area) * height - 0.5;
        if (u < -0.5 || v < -0.5 || u > width - 0.5 || v > height - 0.5) continue;
        sum += samples > 1 ? gray(Math.round(u), Math.round(v)) : interpolate(gray, u, v);
        count++;
      }
      if (count > 0) canvas[y * columns + x] = sum / count;
    }
}

/** Interpolates bilinearly between four pixels. */
function interpolate(gray: (x: number, y: number) => number, u: number, v: number): number {
  const [left, top] = [Math.floor(u), Math.floor(v)];
  const [across, down] = [u - left, v - top];
  const upper = gray(left, top) * (1 - across) + gray(left + 1, top) * across;
  const lower = gray(left, top + 1) * (1 - across) + gray(left + 1, top + 1) * across;
  return upper * (1 - down) + lower * down;
}

/** Returns the gray value of a pixel; coordinates outside are clamped to the edge. */
function grayOf({ width, height, kind, data }: Pixels): (x: number, y: number) => number {
  const inX = (x: number) => (x < 0 ? 0 : x >= width ? width - 1 : x);
  const inY = (y: number) => (y < 0 ? 0 : y >= height ? height - 1 : y);
  if (kind === 1) {
    const stride = (width + 7) >> 3;
    return (x, y) => ((data[inY(y) * stride + (inX(x) >> 3)]! >> (7 - (inX(x) & 7))) & 1 ? white : black);
  }
  const bytes = kind === 2 ? 3 : 4;
  return (x, y) => {
    const at = (inY(y) * width + inX(x)) * bytes;
    const luminance = 0.299 * data[at]! + 0.587 * data[at + 1]! + 0.114 * data[at + 2]!;
    if (bytes === 3) return luminance;
    const alpha = data[at + 3]! / 255;
    return luminance * alpha + white * (1 - alpha);
  };
}
