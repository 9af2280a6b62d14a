import { expect, test } from "bun:test";
import { pdfFrom, streamOf } from "../../testing/documents.ts";
import { parse } from "./parse.ts";

/** Returns a PDF with a line of text, and an annotation that draws this. */
const annotated = (annotation: string, drawing: string): Uint8Array<ArrayBuffer> =>
  pdfFrom([
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 5 0 R >> >> /Contents 4 0 R /Annots [6 0 R] >>",
    streamOf("BT /F1 12 Tf 60 780 Td (Contract about a bicycle) Tj ET"),
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    `<< /Type /Annot /Rect [60 100 260 140] ${annotation.includes("/F ") ? "" : "/F 4"} ${annotation} /AP << /N 7 0 R >> >>`,
    streamOf(drawing, "/Type /XObject /Subtype /Form /BBox [0 0 200 40] /Resources << /Font << /F1 5 0 R >> >> "),
  ]);

async function textOf(annotation: string, drawing: string): Promise<string> {
  const { sections } = await parse(annotated(annotation, drawing), "application/pdf");
  return sections.map(({ text }) => text).join("\n\n");
}

const drawing = "BT /F1 9 Tf 2 20 Td (Signed by ) Tj 0 -12 Td [(Ann) -300 (Lee)] TJ ET";
const text = "Contract about a bicycle";

test("the words that a signature, a stamp or a button shows are read", async () => {
  for (const annotation of [
    "/Subtype /Widget /FT /Sig /T (Signature1)",
    "/Subtype /Stamp",
    "/Subtype /Widget /FT /Btn /Ff 65536 /T (Button)",
  ])
    expect(await textOf(annotation, drawing)).toBe(`${text}\n\nSigned by Ann Lee`);
});

test("a free text is read from its drawing if it has no contents", async () => {
  expect(await textOf("/Subtype /FreeText /DA (/F1 9 Tf)", "BT /F1 9 Tf 2 20 Td (Keep it dry) Tj ET")).toBe(
    `${text}\n\nKeep it dry`,
  );
});

test("a hidden signature, and one without words, add nothing", async () => {
  expect(await textOf("/Subtype /Widget /FT /Sig /T (S) /F 2", drawing)).toBe(text);
  expect(await textOf("/Subtype /Widget /FT /Sig /T (S)", "0 0 20 20 re f")).toBe(text);
});
