import { describe, expect, test } from "bun:test";
import { docxBody, relationships, sheetXml, zipOf } from "../../testing/documents.ts";
import { mimeTypes } from "../../testing/hostile-documents/hostile-document.ts";
import { listNumber } from "./list-numbers.ts";
import { parse } from "./parse.ts";

const textOf = async (kind: keyof typeof mimeTypes, content: Uint8Array) =>
  (await parse(content, mimeTypes[kind])).sections.map(({ text }) => text).join("\n\n");

/** A text document with this body, and other parts by their type. */
const docxOf = (body: string, parts: Record<string, string> = {}) =>
  zipOf({
    "word/document.xml": docxBody(body),
    "word/_rels/document.xml.rels": relationships(
      Object.keys(parts).map((type) => [type, type.replace(/\d$/, ""), `${type}.xml`] as const),
    ),
    ...Object.fromEntries(Object.entries(parts).map(([type, part]) => [`word/${type}.xml`, part])),
  });
const run = (text: string, properties = "") => `<w:r><w:rPr>${properties}</w:rPr><w:t>${text}</w:t></w:r>`;
const paragraph = (text: string, properties = "") => `<w:p><w:pPr>${properties}</w:pPr>${run(text)}</w:p>`;
const item = (text: string, level = 0, list = 1) =>
  paragraph(text, `<w:numPr><w:ilvl w:val="${level}"/><w:numId w:val="${list}"/></w:numPr>`);
const level = (at: number, style: string, text: string, start = 1) =>
  `<w:lvl w:ilvl="${at}"><w:start w:val="${start}"/><w:numFmt w:val="${style}"/><w:lvlText w:val="${text}"/></w:lvl>`;
const numbering = `<w:numbering><w:abstractNum w:abstractNumId="7">${level(0, "decimal", "%1.")}${level(1, "lowerLetter", "(%2)", 2)}${level(2, "upperRoman", "%1.%3")}</w:abstractNum>
  <w:abstractNum w:abstractNumId="8">${level(0, "bullet", "•")}</w:abstractNum>
  <w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="8"/></w:num>
  <w:num w:numId="3"><w:abstractNumId w:val="7"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride></w:num></w:numbering>`;
const styles = `<w:styles><w:style w:styleId="H"><w:name w:val="heading 1"/><w:pPr><w:numPr><w:numId w:val="3"/></w:numPr></w:pPr></w:style>
  <w:style w:styleId="Mine"><w:basedOn w:val="H"/></w:style></w:styles>`;

describe("a text document", () => {
  test("keeps list and heading numbers, counted over levels, breaks and styles", async () => {
    const body = [
      item("one"),
      item("two"),
      item("sub", 1),
      item("deep", 2),
      item("deeper", 2),
      paragraph("between"),
      item("three"),
      item("sub", 1),
      item("dot", 0, 2),
      item("none", 0, 0),
      paragraph("Terms", `<w:pStyle w:val="H"/>`),
      paragraph("More", `<w:pStyle w:val="Mine"/>`),
    ];
    expect(await textOf("docx", docxOf(body.join(""), { numbering, styles }))).toBe(
      [
        "1. one\n2. two\n  (b) sub\n    2.I deep\n    2.II deeper",
        "between\n\n3. three\n  (b) sub\n- dot",
        "none\n\n# 5. Terms\n\n# 6. More",
      ].join("\n\n"),
    );
  });

  test("has notes and comments after their paragraph, and headers, footers and other notes at the end", async () => {
    const note = (kind: string, id: number, text: string) =>
      `<w:${kind} w:id="${id}" w:author="Ann">${paragraph(text)}</w:${kind}>`;
    const reference = (kind: string, id: number) =>
      `<w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:${kind}Reference w:id="${id}"/></w:r>`;
    const first = `<w:p>${run("word")}${reference("footnote", 3)}${run(" on")}${reference("endnote", 3)}${reference("comment", 9)}</w:p>`;
    const parts = {
      footnotes: `<w:footnotes>${note("footnote", 3, "of the foot")}${note("footnote", 4, "never named")}</w:footnotes>`,
      endnotes: `<w:endnotes>${note("endnote", 3, "of the end")}</w:endnotes>`,
      comments: `<w:comments>${note("comment", 9, "is it?")}</w:comments>`,
      header1: `<w:hdr>${paragraph("Acme secret")}</w:hdr>`,
      header2: `<w:hdr>${paragraph("Acme secret")}</w:hdr>`,
      footer1: `<w:ftr>${paragraph("7")}</w:ftr>`,
    };
    expect(await textOf("docx", docxOf(first + paragraph("next"), parts))).toBe(
      [
        "word[^1] on[^2]\n\n[^1]: of the foot\n\n[^2]: of the end\n\n> Comment by Ann: is it?",
        "next\n\nnever named\n\nAcme secret",
      ].join("\n\n"),
    );
  });

  test("has text boxes once, charts as rows, and marks formulas and raised letters", async () => {
    const box = `<w:txbxContent>${paragraph("in a box")}</w:txbxContent>`;
    const drawn = `<w:r><mc:AlternateContent><mc:Choice>${box}</mc:Choice><mc:Fallback>${box}</mc:Fallback></mc:AlternateContent></w:r>`;
    const raised = (text: string) => run(text, `<w:vertAlign w:val="superscript"/>`);
    const formula = `<m:r><m:t>y</m:t></m:r><m:sSup><m:e><m:r><m:t>x</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup>`;
    const body = `<w:p>${run("before")}${drawn}${run(" after, 10")}${raised("-")}${raised("3")}${run(", 1")}${raised("st")} ${formula}</w:p>`;
    const chart = `<c><a:p><a:t>Sales</a:t></a:p><c:strCache><c:v>Q1</c:v><c:v>Q2</c:v></c:strCache><c:numCache><c:v>4</c:v><c:v>5</c:v></c:numCache></c>`;
    expect(await textOf("docx", docxOf(body, { chart1: chart }))).toBe(
      "before after, 10^-3, 1styx^2\n\nin a box\n\nSales\nQ1 Q2\n4 5",
    );
  });
});

test("a workbook shows a formula without a calculated value, comments, and the drawings of a sheet", async () => {
  const book = zipOf({
    "xl/workbook.xml": `<workbook xmlns:r="r"><sheets><sheet name="S" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": relationships([["rId1", "worksheet", "worksheets/sheet1.xml"]]),
    "xl/worksheets/_rels/sheet1.xml.rels": relationships([
      ["rId1", "comments", "../comments1.xml"],
      ["rId2", "drawing", "../drawing1.xml"],
    ]),
    "xl/worksheets/sheet1.xml": sheetXml(
      `<row><c><v>1</v></c><c><f>SUM(A1:A2)</f></c><c><f>A1*2</f><v>2</v></c></row>`,
    ),
    "xl/comments1.xml": `<comments><comment ref="B1"><text><r><t>why </t></r><r><t>so</t></r></text></comment></comments>`,
    "xl/drawing1.xml": "<d><p><t>Boxed</t></p></d>",
    "xl/_rels/drawing1.xml.rels": relationships([
      ["rId1", "chart", "chart1.xml"],
      ["rId2", "drawing", "drawing1.xml"],
    ]),
    "xl/chart1.xml": "<c><numCache><v>7</v></numCache></c>",
  });
  expect(await textOf("xlsx", book)).toBe(
    "# S\n\n| 1 | =SUM(A1:A2) | 2 |\n| --- | --- | --- |\n\nBoxed\n\n7\n\n> Comment on B1: why so",
  );
});

test("a slide keeps the numbers of its lists, raised letters, tables and comments", async () => {
  const line = (text: string, properties = "") =>
    `<a:p><a:pPr ${properties.startsWith("lvl") ? properties : ""}>${properties.startsWith("<") ? properties : `<a:buAutoNum type="arabicPeriod"/>`}</a:pPr><a:r><a:t>${text}</a:t></a:r></a:p>`;
  const shape = (lines: string) => `<p:sp><p:txBody>${lines}</p:txBody></p:sp>`;
  const slides = zipOf({
    "ppt/presentation.xml": `<p xmlns:r="r"><sldId r:id="rId1"/></p>`,
    "ppt/_rels/presentation.xml.rels": relationships([["rId1", "slide", "slide.xml"]]),
    "ppt/_rels/slide.xml.rels": relationships([["rId1", "comments", "comments.xml"]]),
    "ppt/comments.xml": "<cmLst><cm><text>Too long</text></cm></cmLst>",
    "ppt/slide.xml": `<sld>${shape(
      [
        line("one"),
        line("two"),
        line("sub", `lvl="1"`),
        line("roman", `<a:buAutoNum type="romanUcParenBoth" startAt="4"/>`),
        line("no number", "<a:buNone/>"),
        line("new"),
      ].join(""),
    )}${shape(line("again"))}<p><r><rPr baseline="0"/><t>x</t></r><r><rPr baseline="30000"/><t>2</t></r></p></sld>`,
  });
  expect(await textOf("pptx", slides)).toBe(
    "1. one\n2. two\n  1. sub\n(IV) roman\nno number\n1. new\n\n1. again\n\nx^2\n\nToo long",
  );
});

test("HTML marks raised letters, and keeps no tags that Markdown cannot express", async () => {
  const page = `<form><p>x<sup>2</sup>, H<sub>2</sub>O, 1<sup>st</sup>, e<sup>i &pi;</sup>, word<sup>[3]</sup>, <ins>new</ins> <mark>key</mark></p></form><aside>Note</aside>`;
  expect(await textOf("html", new TextEncoder().encode(page))).toBe("x^2, H2O, 1st, e^(i π), word[3], new key\n\nNote");
});

test.each([
  [4, "lowerRoman", "iv"],
  [1999, "upperRoman", "MCMXCIX"],
  [28, "upperLetter", "BB"],
  [7, "decimalZero", "07"],
  [0, "lowerLetter", "0"],
  [1e9, "lowerRoman", "1000000000"],
])("%d in the style %s is %s", (number, style, shown) => {
  expect(listNumber(number, style)).toBe(shown);
});

test("a workbook has dates and durations as such, whatever format shows them, and other numbers as stored", async () => {
  const formats = [
    ["yyyy-mm-dd", "46083", "2026-03-02"],
    ['yyyy"年"m"月"d"日"', "46083", "2026-03-02"],
    ["[$-F800]dddd\\,\\ mmmm\\ dd\\,\\ yyyy", "46083", "2026-03-02"],
    ["mmm", "46083", "2026-03-02"],
    ["dd.mm.yyyy hh:mm", "46083.60416666666", "2026-03-02 14:30:00"],
    ["mm:ss.0", "0.5", "12:00:00"],
    ["[h]:mm", "1.5", "36:00:00"],
    ["[mm]:ss", "-0.25", "-06:00:00"],
    // Excel counts a day that 1900 did not have.
    ["d/m/yyyy", "1", "1900-01-01"],
    ["d/m/yyyy", "61", "1900-03-01"],
    ["[Red]0.00", "3.5", "3.5"],
    ['0 "days"', "5", "5"],
    ["# ?/?", "0.5", "0.5"],
    ["0.00E+00", "123456789", "123456789"],
    ["#,##0.00\\ \\h", "8", "8"],
    ["General", "46083", "46083"],
    // Programs write more digits than make the number.
    ["General", "6.1699999999999998E-2", "0.0617"],
    ["General", "12345678901234567890", "12345678901234567890"],
  ] as const;
  const builtIn = [
    [14, "46083", "2026-03-02"],
    [31, "46083", "2026-03-02"],
    [46, "1.5", "36:00:00"],
    [57, "46083", "2026-03-02"],
    [9, "0.25", "0.25"],
  ] as const;
  const escapeQuotes = (text: string) => text.replaceAll('"', "&quot;");
  const cells = [...formats.map(([, value]) => value), ...builtIn.map(([, value]) => value)];
  const styles = `<styleSheet><numFmts>${formats.map(([code], at) => `<numFmt numFmtId="${200 + at}" formatCode="${escapeQuotes(code)}"/>`).join("")}</numFmts>
    <cellXfs>${formats.map((_, at) => `<xf numFmtId="${200 + at}"/>`).join("")}${builtIn.map(([id]) => `<xf numFmtId="${id}"/>`).join("")}</cellXfs></styleSheet>`;
  const book = zipOf({
    "xl/workbook.xml": `<workbook><sheets><sheet name="S" r:id="a"/></sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": relationships([
      ["a", "worksheet", "a.xml"],
      ["b", "styles", "styles.xml"],
    ]),
    "xl/styles.xml": styles,
    "xl/a.xml": `<worksheet><sheetData><row>${cells.map((value, at) => `<c s="${at}"><v>${value}</v></c>`).join("")}</row></sheetData></worksheet>`,
  });
  const shown = [...formats.map(([, , text]) => text), ...builtIn.map(([, , text]) => text)];
  expect(await textOf("xlsx", book)).toContain(`| ${shown.join(" | ")} |`);
});
