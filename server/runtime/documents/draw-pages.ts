import { readFileSync } from "node:fs";
import type { WrappedPdfiumModule } from "@embedpdf/pdfium";
import { pdfiumFile } from "../../lib/assets.ts";
import { lazy } from "../../lib/lazy.ts";
import { ocrBounds, pageImageBounds } from "./bounds.ts";

/** Draws the pages of a PDF, by number from 1. Its methods fail if a page is damaged. */
export interface PageDrawer {
  pages: number;
  /** Draws a page in gray as PGM for OCR, without the values of form fields, which are read as text. */
  scan(page: number): Uint8Array;
  /** Draws a page as JPEG, as a person sees it. */
  picture(page: number): Promise<Uint8Array>;
}

/** Reads PDFium's files, so that no file is opened later. Its program is compiled for the first PDF only. */
export const loadPdfium = lazy(async () => {
  const { init } = await import("@embedpdf/pdfium");
  const { buffer } = new Uint8Array(readFileSync(pdfiumFile()));
  return lazy(async () => {
    const pdfium = await init({ wasmBinary: buffer, print() {}, printErr() {} });
    pdfium.PDFiumExt_Init();
    return pdfium;
  });
});

/** Opens the one PDF of this process, which is copied. Rejects if PDFium cannot read it. */
export async function openDrawer(bytes: Uint8Array): Promise<PageDrawer> {
  const pdfium = await (await loadPdfium())();
  const place = pdfium.pdfium.wasmExports.malloc(bytes.length);
  if (place === 0) throw new Error("There is no memory for the PDF.");
  pdfium.pdfium.HEAPU8.set(bytes, place);
  const pdf = pdfium.FPDF_LoadMemDocument(place, bytes.length, "");
  if (pdf === 0) throw new Error("PDFium cannot read the PDF.");
  const form = pdfium.PDFiumExt_InitFormFillEnvironment(pdf, pdfium.PDFiumExt_OpenFormFillInfo());
  if (form !== 0) pdfium.FPDF_SetFormFieldHighlightAlpha(form, 0);
  return {
    pages: pdfium.FPDF_GetPageCount(pdf),
    scan: (number) => drawPage(pdfium, { pdf, form: 0, number, scaleOf: scanScale, pixel: gray }, grayMapOf),
    async picture(number) {
      const bitmap = drawPage(pdfium, { pdf, form, number, scaleOf: pictureScale, pixel: colour }, bitmapOf);
      return new Bun.Image(bitmap).jpeg({ quality: 80 }).bytes();
    },
  };
}

/** A kind of pixels: PDFium's number of it, and its bytes. Colours are blue, green, red and one byte that is not used. */
interface Pixel {
  format: number;
  bytes: number;
}
const gray: Pixel = { format: 1, bytes: 1 };
const colour: Pixel = { format: 3, bytes: 4 };

/** Pixels per point for a page of this size in points. */
type ScaleOf = (width: number, height: number) => number;

const pointsPerInch = 72;

/** 300 dpi, or less if that exceeds the limit of pixels. */
const scanScale: ScaleOf = (width, height) =>
  Math.min(ocrBounds.dpi / pointsPerInch, Math.sqrt(ocrBounds.pixels / (width * height)));

const pictureScale: ScaleOf = (width, height) => pageImageBounds.side / Math.max(width, height);

interface Drawing {
  pdf: number;
  /** Zero if the values of form fields are left out. */
  form: number;
  number: number;
  scaleOf: ScaleOf;
  pixel: Pixel;
}

type Encode = (width: number, height: number, pixels: Uint8Array) => Uint8Array;

function drawPage(pdfium: WrappedPdfiumModule, { pdf, form, number, scaleOf, pixel }: Drawing, encode: Encode) {
  const page = pdfium.FPDF_LoadPage(pdf, number - 1);
  const points = [pdfium.FPDF_GetPageWidthF(page), pdfium.FPDF_GetPageHeightF(page)] as const;
  if (!points.every((side) => side > 0)) throw new Error("The page is damaged.");
  const scale = scaleOf(...points);
  const [width = 1, height = 1] = points.map((side) => Math.max(1, Math.floor(side * scale)));
  const size = width * height * pixel.bytes;
  const place = pdfium.pdfium.wasmExports.malloc(size);
  if (place === 0) throw new Error("There is no memory for the page.");
  const bitmap = pdfium.FPDFBitmap_CreateEx(width, height, pixel.format, place, width * pixel.bytes);
  try {
    pdfium.FPDFBitmap_FillRect(bitmap, 0, 0, width, height, white);
    const area = [0, 0, width, height, upright] as const;
    pdfium.FPDF_RenderPageBitmap(bitmap, page, ...area, withAnnotations);
    if (form !== 0) pdfium.FPDF_FFLDraw(form, bitmap, page, ...area, 0);
    return encode(width, height, pdfium.pdfium.HEAPU8.subarray(place, place + size));
  } finally {
    pdfium.FPDFBitmap_Destroy(bitmap);
    pdfium.FPDF_ClosePage(page);
    pdfium.pdfium.wasmExports.free(place);
  }
}

const white = 0xff_ff_ff_ff;
const [upright, withAnnotations] = [0, 1];

/** Returns a PGM of gray pixels. */
const grayMapOf: Encode = (width, height, pixels) =>
  Buffer.concat([new TextEncoder().encode(`P5\n${width} ${height}\n255\n`), pixels]);

const [headBytes, infoBytes] = [14, 40];

/** Returns a BMP of colours, which is the only form of pixels that the encoder of JPEG takes. */
const bitmapOf: Encode = (width, height, pixels) => {
  const head = Buffer.alloc(headBytes + infoBytes);
  head.write("BM");
  head.writeUInt32LE(head.length + pixels.length, 2);
  head.writeUInt32LE(head.length, 10);
  head.writeUInt32LE(infoBytes, headBytes);
  head.writeInt32LE(width, 18);
  // Negative: the first row is the top.
  head.writeInt32LE(-height, 22);
  head.writeUInt16LE(1, 26);
  head.writeUInt16LE(8 * colour.bytes, 28);
  return Buffer.concat([head, pixels]);
};
