import { describe, expect, test } from "bun:test";
import { pdfFrom, streamOf } from "../../testing/documents.ts";
import { parse } from "./parse.ts";

interface NamedGlyphs {
  /** Codes of the shown text in hexadecimal digits. */
  shown: string;
  /** Differences of the font's encoding: codes and names. */
  differences: string;
}

/** Returns a PDF with Latin text, and text in a font whose encoding names its glyphs. */
const pdfOf = ({ shown, differences }: NamedGlyphs): Uint8Array<ArrayBuffer> =>
  pdfFrom([
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 5 0 R /F2 6 0 R >> >> /Contents 4 0 R >>",
    streamOf(`BT /F2 12 Tf 60 780 Td (Figures of the year) Tj ET BT /F1 12 Tf 60 740 Td <${shown}> Tj ET`),
    `<< /Type /Font /Subtype /Type1 /BaseFont /ABCDEF+OpenSans /FirstChar 1 /LastChar 255 /Widths [${"500 ".repeat(255)}] /FontDescriptor 7 0 R /Encoding << /Type /Encoding /Differences [${differences}] >> >>`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    "<< /Type /FontDescriptor /FontName /ABCDEF+OpenSans /Flags 4 /FontBBox [0 -200 1000 800] /ItalicAngle 0 /Ascent 800 /Descent -200 /CapHeight 700 /StemV 80 >>",
  ]);

async function read(given: NamedGlyphs): Promise<{ text: string; warnings: string[] }> {
  const { sections, report } = await parse(pdfOf(given), "application/pdf");
  const [, text = ""] = sections
    .map((section) => section.text)
    .join("\n")
    .split("\n\n");
  return { text, warnings: report.warnings.map(({ code }) => code) };
}

describe("letters are known by the names of their glyphs", () => {
  test("digits and letters in another form than usual", async () => {
    const differences = "128 /two.oldstyle /zero.oldstyle /seven.tnum /A.sc /period.alt";
    expect(await read({ shown: "8081808284", differences })).toEqual({ text: "2027.", warnings: [] });
    expect(await read({ shown: "8380", differences })).toEqual({ text: "A2", warnings: [] });
  });

  test("ligatures, and characters by their numbers", async () => {
    const differences = "128 /f_f_i /uni0041030A /u1F600 /T_h";
    expect(await read({ shown: "8083", differences })).toEqual({ text: "ffiTh", warnings: [] });
    expect(await read({ shown: "8182", differences })).toEqual({ text: "A\u030a😀", warnings: [] });
  });

  test("brackets of formulas; a sign that is no letter is left out without a warning", async () => {
    const differences = "128 /parenleftBig /summationdisplay /parenrightBig /ornamentleaf";
    expect(await read({ shown: "8081838382", differences })).toEqual({ text: "(∑)", warnings: [] });
  });

  test("also if its other names are far apart", async () => {
    const differences = "128 /one.oldstyle 1000000000 /a 4000000000 /b";
    expect(await read({ shown: "80", differences })).toEqual({ text: "1", warnings: [] });
  });

  test("and not by the number of a glyph: the page says so", async () => {
    const differences = "1 /g18 /g152 /g135 /g148";
    expect((await read({ shown: "01020304", differences })).warnings).toEqual(["text_unreadable"]);
  });
});
