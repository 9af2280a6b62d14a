import { describe, expect, test } from "bun:test";
import { pdfFrom, streamOf } from "../../testing/documents.ts";
import { parse } from "./parse.ts";

interface AsianText {
  /** Name of the font's character map, or the map itself. */
  encoding: string;
  /** Collection of the font's characters. */
  collection: string;
  /** Codes of each line in hexadecimal digits. */
  lines: readonly string[];
  /** Stream of the map to Unicode. */
  toUnicode?: string;
}

const latin = "Warehouse handbook, version 7";

/** Returns a PDF of one page: a line in a Latin font, and lines in a font whose program is not in the file. */
function asianPdf({ encoding, collection, lines, toUnicode }: AsianText): Uint8Array<ArrayBuffer> {
  const isVertical = encoding.endsWith("V");
  const shown = lines.map((codes, at) =>
    isVertical
      ? `BT /F1 14 Tf ${500 - 30 * at} 700 Td <${codes}> Tj ET`
      : `BT /F1 14 Tf 60 ${700 - 20 * at} Td <${codes}> Tj ET`,
  );
  return pdfFrom([
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 5 0 R /F2 6 0 R >> >> /Contents 4 0 R >>",
    streamOf(`BT /F2 14 Tf 60 800 Td (${latin}) Tj ET\n${shown.join("\n")}`),
    `<< /Type /Font /Subtype /Type0 /BaseFont /Song /Encoding ${encoding.startsWith("<<") ? "9 0 R" : `/${encoding}`} /DescendantFonts [7 0 R] ${toUnicode ? "/ToUnicode 10 0 R" : ""} >>`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    `<< /Type /Font /Subtype /CIDFontType0 /BaseFont /Song /CIDSystemInfo << /Registry (Adobe) /Ordering (${collection}) /Supplement 2 >> /FontDescriptor 8 0 R /DW 1000 >>`,
    "<< /Type /FontDescriptor /FontName /Song /Flags 4 /FontBBox [0 -200 1000 800] /ItalicAngle 0 /Ascent 800 /Descent -200 /CapHeight 700 /StemV 80 >>",
    encoding.startsWith("<<") ? encoding : "null",
    toUnicode ?? "null",
  ]);
}

const utf16 = (text: string): string => Buffer.from(text, "utf16le").swap16().toString("hex");

async function read(pdf: AsianText): Promise<{ text: string; warnings: unknown[] }> {
  const { sections, report } = await parse(asianPdf(pdf), "application/pdf");
  return { text: sections.map(({ text }) => text).join("\n\n"), warnings: report.warnings };
}

describe("text in a font of Chinese, Japanese or Korean that names the map of its encoding is read", () => {
  const samples: [encoding: string, collection: string, codes: string, text: string][] = [
    ["GBK-EUC-H", "GB1", "b2d6bfe2b5c4d4bfb3d7d4dac7b0cca8a1a3", "仓库的钥匙在前台。"],
    ["GBK2K-H", "GB1", "e9468139ef31", "镕㐂"],
    ["UniGB-UCS2-H", "GB1", utf16("仓库的钥匙在前台。"), "仓库的钥匙在前台。"],
    ["90ms-RKSJ-H", "Japan1", "91718cc982cc8cae20b6debfd8dd", "倉庫の鍵 ｶﾞｿﾘﾝ"],
    ["EUC-H", "Japan1", "c1d2b8cba4ceb8b0", "倉庫の鍵"],
    ["UniJIS-UTF16-H", "Japan1", utf16("倉庫の鍵 𠮷野 ABC 12"), "倉庫の鍵 𠮷野 ABC 12"],
    ["KSCms-UHC-H", "Korea1", "c3a2b0ed20bfadbce8", "창고 열쇠"],
    ["UniKS-UTF16-H", "Korea1", utf16("창고 열쇠"), "창고 열쇠"],
    ["ETen-B5-H", "CNS1", "addcae77aabac65fb0cd", "倉庫的鑰匙"],
    ["HKscs-B5-H", "CNS1", "addcae779defc65fb0cd9df6c264a578", "倉庫嘅鑰匙喺櫃台"],
  ];
  for (const [encoding, collection, codes, text] of samples)
    test(`in ${encoding}, beside Latin text`, async () => {
      const pdf = { encoding, collection, lines: [codes] };
      expect(await read(pdf)).toEqual({ text: `${latin}\n\n${text}`, warnings: [] });
    });

  test("from top to bottom, with the usual punctuation, as lines of the text", async () => {
    const lines = [utf16("倉庫の鍵は受付に︵ある︶。"), utf16("営業時間")];
    const pdf = { encoding: "UniJIS-UTF16-V", collection: "Japan1", lines };
    expect(await read(pdf)).toEqual({ text: `${latin}\n\n倉庫の鍵は受付に(ある)。\n営業時間`, warnings: [] });
    const { sections } = await parse(asianPdf(pdf), "application/pdf");
    // The first column of text is 13 letters long, and is centered on its place.
    expect(sections[0]?.places?.[1]?.box).toEqual([0.8286, 0.1686, 0.8521, 0.3848]);
  });

  test("by the number of each character, if the font says no more", async () => {
    const lines = ["04b004b104b2"];
    const texts = { GB1: "查碴搽", CNS1: "扯折扮", Japan1: "一壱溢", Korea1: "굘굡굣" };
    for (const [collection, text] of Object.entries(texts))
      expect(await read({ encoding: "Identity-H", collection, lines })).toMatchObject({ text: `${latin}\n\n${text}` });
  });

  test("if the file extends a map, for the codes or for the text", async () => {
    const map =
      "/CIDInit /ProcSet findresource begin begincmap /GBK-EUC-H usecmap 1 begincidrange <e0e0> <e0e0> 34 endcidrange endcmap end";
    const encoding = streamOf(map, "/Type /CMap /CMapName /Own-H /UseCMap /GBK-EUC-H ");
    expect(await read({ encoding, collection: "GB1", lines: ["b2d6bfe2e0e0"] })).toEqual({
      text: `${latin}\n\n仓库A`,
      warnings: [],
    });
    const toUnicode = streamOf(
      "begincmap 1 begincodespacerange <0000> <ffff> endcodespacerange 1 beginbfrange <04b0> <04b1> <4ed3> endbfrange endcmap",
    );
    expect(await read({ encoding: "Identity-H", collection: "Identity", lines: ["04b004b1"], toUnicode })).toEqual({
      text: `${latin}\n\n仓仔`,
      warnings: [],
    });
  });
});

describe("a PDF whose letters are not known says so", () => {
  const unreadable = (message: unknown) => [{ code: "text_unreadable", message, page: 1 }];

  test("if a font names an unknown map: the other text is read", async () => {
    const pdf = { encoding: "Vendor-H", collection: "GB1", lines: ["b2d6bfe2"] };
    expect(await read(pdf)).toEqual({ text: latin, warnings: unreadable(expect.stringMatching(/text is missing/)) });
  });

  test("if a font is of another language than its map", async () => {
    const pdf = { encoding: "UniGB-UCS2-H", collection: "CNS1", lines: [utf16("仓库的钥匙")] };
    expect((await read(pdf)).warnings).toEqual(unreadable(expect.stringMatching(/two languages/)));
  });

  test("if a font numbers its letters for itself", async () => {
    const glyphs = [..."Keys of the warehouse"].map((letter) => letter.charCodeAt(0) - 29);
    const codes = Buffer.from(Uint16Array.from(glyphs).buffer).swap16().toString("hex");
    const pdf = { encoding: "Identity-H", collection: "Identity", lines: [codes] };
    expect((await read(pdf)).warnings).toEqual(unreadable(expect.stringMatching(/does not say which letters/)));
  });

  test("if all of it is in such fonts, by an error that names the cause", async () => {
    const bytes = Buffer.from(asianPdf({ encoding: "Vendor-H", collection: "GB1", lines: ["b2d6"] })).toString(
      "latin1",
    );
    const silent = new Uint8Array(Buffer.from(bytes.replace(`(${latin})`, "( )".padEnd(latin.length + 2)), "latin1"));
    expect(await parse(silent, "application/pdf").catch(({ code, message }) => ({ code, message }))).toEqual({
      code: "document_unreadable",
      message: expect.stringContaining("fonts"),
    });
  });

  test("and nothing of it is on the console", async () => {
    const { stderr } = Bun.spawnSync(
      [
        process.execPath,
        "-e",
        `
      import { parse } from ${JSON.stringify(new URL("parse.ts", import.meta.url).pathname)};
      await parse(new Uint8Array(await Bun.stdin.arrayBuffer()), "application/pdf");
    `,
      ],
      { stdin: asianPdf({ encoding: "Vendor-H", collection: "GB1", lines: ["b2d6"] }) },
    );
    expect(stderr.toString()).toBe("");
  });
});
