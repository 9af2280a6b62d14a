import { describe, expect, test } from "bun:test";
import { docxBody, odfOf, pdfFrom, relationships, sheetXml, streamOf, zipOf } from "../../testing/documents.ts";
import { mimeTypes } from "../../testing/hostile-documents/hostile-document.ts";
import { parse } from "./parse.ts";

// Text that people see on a page or a screen, but a reader of paragraphs and cells alone would miss.

const textOf = async (kind: keyof typeof mimeTypes, content: Uint8Array | string) =>
  (await parse(typeof content === "string" ? new TextEncoder().encode(content) : content, mimeTypes[kind])).sections
    .map(({ text }) => text)
    .join("\n\n");

describe("a workbook", () => {
  /** A workbook of one sheet, with other parts by their type. */
  const bookOf = (sheet: string, parts: Record<string, string> = {}, workbook = "") =>
    zipOf({
      "xl/workbook.xml": `<workbook xmlns:r="r">${workbook}<sheets><sheet name="S" sheetId="1" r:id="rId1"/></sheets></workbook>`,
      "xl/_rels/workbook.xml.rels": relationships([
        ["rId1", "worksheet", "sheet.xml"],
        ["rId2", "person", "person.xml"],
        ["rId3", "styles", "styles.xml"],
      ]),
      "xl/_rels/sheet.xml.rels": relationships(Object.keys(parts).map((type) => [type, type, `${type}.xml`] as const)),
      "xl/sheet.xml": sheet,
      ...Object.fromEntries(Object.entries(parts).map(([type, part]) => [`xl/${type}.xml`, part])),
    });

  test("has printed headers and footers once per sheet, without numbers, dates, fonts and colours", async () => {
    const edges = [
      `<oddHeader>&amp;L&amp;"Arial,Bold Italic"&amp;14Plan 2027&amp;C&amp;K0070C0R&amp;&amp;D&amp;K01+000&amp;RDraft&amp;G</oddHeader>`,
      "<oddFooter>&amp;LPage &amp;P of &amp;N&amp;R&amp;D &amp;T</oddFooter>",
      "<evenHeader>Even&amp;P+1</evenHeader><evenFooter>&amp;LPage &amp;P&amp;CAcme &amp;B&amp;Usecret&amp;U&amp;B</evenFooter>",
      "<firstHeader>&amp;CDraft only</firstHeader><firstFooter>&amp;LPage &amp;P&amp;CAcme secret &amp;A &amp;F</firstFooter>",
    ];
    const sheet = sheetXml("<row><c><v>1</v></c></row>").replace(
      "</worksheet>",
      `<headerFooter>${edges.join("")}</headerFooter></worksheet>`,
    );
    expect(await textOf("xlsx", bookOf(sheet))).toBe(
      "# S\n\n| 1 |\n| --- |\n\nPlan 2027 R&D Draft\n\nEven\n\nPage Acme secret\n\nDraft only",
    );
  });

  test("has the header of an empty sheet", async () => {
    const sheet = sheetXml("").replace(
      "</worksheet>",
      "<headerFooter><oddHeader>Void</oddHeader></headerFooter></worksheet>",
    );
    expect(await textOf("xlsx", bookOf(sheet))).toBe("# S\n\nVoid");
  });

  test("has each comment once, with its author and replies", async () => {
    const parts = {
      comments: `<comments><authors><author>Ann</author><author>tc</author></authors><commentList>
        <comment ref="A1" authorId="0"><text><r><t>first</t></r></text></comment>
        <comment ref="B1" authorId="1"><text><t>[Threaded comment] asked Reply: said</t></text></comment></commentList></comments>`,
      threadedComment: `<ThreadedComments><threadedComment ref="B1" id="{1}" personId="{p}"><text>asked</text></threadedComment>
        <threadedComment ref="B1" id="{2}" parentId="{1}" personId="{q}"><text>said</text></threadedComment></ThreadedComments>`,
      person: `<personList><person displayName="Bob" id="{p}"/><person displayName="Cy" id="{q}"/></personList>`,
    };
    expect(await textOf("xlsx", bookOf(sheetXml("<row><c><v>1</v></c></row>"), parts))).toBe(
      "# S\n\n| 1 |\n| --- |\n\n> Comment on A1 by Ann: first\n\n> Comment on B1 by Bob: asked\n\n> Reply on B1 by Cy: said",
    );
  });

  test("has the alternative texts of pictures, the hints of cells and the labels of every kind of chart", async () => {
    const sheet = sheetXml("<row><c><v>1</v></c></row>").replace(
      "</worksheet>",
      `<dataValidations><dataValidation type="list" promptTitle="State" prompt="Pick one" errorTitle="No" error="Not a state"><formula1>"open,shut"</formula1></dataValidation></dataValidations></worksheet>`,
    );
    const parts = {
      drawing: `<d><cNvPr id="2" name="Picture 1" descr="A red square"/><cNvPr id="3" name="P" descr="image1.png"/></d>`,
      chartEx: `<c><tx><txData><v>Flow</v></txData></tx><strDim><lvl><pt idx="0">North</pt><pt idx="1">South</pt></lvl></strDim></c>`,
    };
    expect(await textOf("xlsx", bookOf(sheet, parts))).toBe(
      "# S\n\n| 1 |\n| --- |\n\n[Image: A red square]\n\nFlow\nNorth South\n\nState: Pick one. No: Not a state. Choices: open, shut",
    );
  });

  test("has the right dates if it counts days from 1904", async () => {
    const parts = { styles: `<s><cellXfs><xf numFmtId="14"/></cellXfs></s>` };
    const book = bookOf(sheetXml(`<row><c s="0"><v>44891</v></c></row>`), parts, `<workbookPr date1904="1"/>`);
    expect(await textOf("xlsx", book)).toBe("# S\n\n| 2026-11-27 |\n| --- |");
  });
});

describe("a text document", () => {
  const run = (text: string) => `<w:r><w:t>${text}</w:t></w:r>`;

  test("has alternative texts, text along a path, and the selected entry of a drop-down field", async () => {
    const body = `<w:p>${run("before ")}<w:r><w:drawing><wp:inline><wp:docPr id="1" name="P" title="Plan" descr="The first floor"/></wp:inline></w:drawing></w:r>
      <w:r><w:pict><v:textpath string="Sale"/></w:pict></w:r></w:p><w:p>${run("State: ")}<w:r><w:fldChar><w:ffData><w:ddList><w:result w:val="1"/><w:listEntry w:val="open"/><w:listEntry w:val="shut"/></w:ddList></w:ffData></w:fldChar></w:r></w:p>`;
    expect(await textOf("docx", zipOf({ "word/document.xml": docxBody(body) }))).toBe(
      "before  Sale\n\n[Image: Plan: The first floor]\n\nState: shut",
    );
  });

  test("has symbols of a font by their number, also in notes, and alternative texts of VML pictures", async () => {
    const symbols = `<w:r><w:sym w:font="Symbol" w:char="F061"/><w:sym w:font="Arial" w:char="03B2"/><w:sym w:font="Wingdings" w:char="F0FC"/></w:r>`;
    const document = zipOf({
      "word/document.xml": docxBody(
        `<w:p>${run("angle ")}${symbols}<w:r><w:pict><v:shape alt="The first floor"/></w:pict></w:r><w:r><w:footnoteReference w:id="2"/></w:r></w:p>`,
      ),
      "word/_rels/document.xml.rels": relationships([["f", "footnotes", "footnotes.xml"]]),
      "word/footnotes.xml": `<w:footnotes><w:footnote w:id="2"><w:p>${symbols}<w:r><w:noBreakHyphen/></w:r>${run("ray")}</w:p></w:footnote></w:footnotes>`,
    });
    expect(await textOf("docx", document)).toBe("angle αβ[^1]\n\n[Image: The first floor]\n\n[^1]: αβ-ray");
  });

  test("has every word of its charts and diagrams, also of those in headers", async () => {
    const rich = (text: string) => `<c:tx><c:rich><a:p><a:r><a:t>${text}</a:t></a:r></a:p></c:rich></c:tx>`;
    const point = (text: string) => `<c:pt idx="0">\n  <c:v>${text}</c:v>\n</c:pt>`;
    const chart = `<c:chart><c:title>${rich("Sales")}</c:title><c:ser><c:tx><c:strCache>${point("North")}</c:strCache></c:tx><c:dLbls><c:dLbl>${rich("best")}</c:dLbl></c:dLbls>
      <c:trendline><c:name>Outlook</c:name></c:trendline><c:cat><c:multiLvlStrCache><c:lvl>${point("Q1")}${point("Q2")}</c:lvl></c:multiLvlStrCache></c:cat><c:val><c:numCache>${point("4.5")}${point("5")}</c:numCache></c:val>
      <c15:dlblRangeCache>${point("of a cell")}</c15:dlblRangeCache></c:ser><c:catAx><c:title>${rich("Quarter")}</c:title></c:catAx><c:valAx><c:dispUnits><c:builtInUnit val="thousands"/></c:dispUnits></c:valAx></c:chart>`;
    const diagram = `<dgm:ptLst><dgm:pt type="doc"><dgm:t><a:p/></dgm:t></dgm:pt><dgm:pt><dgm:prSet phldrT="[Text]"/><dgm:t><a:p><a:r><a:t>Board</a:t></a:r></a:p><a:p><a:r><a:t>Staff</a:t></a:r></a:p></dgm:t></dgm:pt></dgm:ptLst>`;
    const document = zipOf({
      "word/document.xml": docxBody(`<w:p>${run("text")}</w:p>`),
      "word/_rels/document.xml.rels": relationships([
        ["c", "chart", "chart.xml"],
        ["h", "header", "header.xml"],
      ]),
      "word/chart.xml": chart,
      "word/header.xml": "<w:hdr/>",
      "word/_rels/header.xml.rels": relationships([["d", "diagramData", "diagram.xml"]]),
      "word/diagram.xml": diagram,
    });
    const words = "Sales\nNorth\nbest\nOutlook\nQ1 Q2\n4.5 5\nof a cell\nQuarter\nthousands";
    expect(await textOf("docx", document)).toBe(`text\n\n${words}\n\nBoard\nStaff`);
  });

  test("has embedded documents in their place", async () => {
    const body = `<w:p>${run("before")}</w:p><w:altChunk r:id="c1"/><w:altChunk r:id="c2"/><w:altChunk r:id="c3"/><w:altChunk r:id="c4"/><w:p>${run("after")}</w:p>`;
    const document = zipOf({
      "word/document.xml": docxBody(body),
      "word/_rels/document.xml.rels": relationships([
        ["c1", "aFChunk", "chunk.html"],
        ["c2", "aFChunk", "chunk.rtf"],
        ["c3", "aFChunk", "chunk.bin"],
        ["c4", "aFChunk", "chunk.mht"],
      ]),
      "word/chunk.html": "<p>of the <b>web</b></p>",
      "word/chunk.rtf": String.raw`{\rtf1 rich\par}`,
      "word/chunk.bin": "?",
      "word/chunk.mht": "MIME-Version: 1.0\nContent-Type: text/html\n\n<p>of a <i>page</i></p>",
    });
    expect(await textOf("docx", document)).toBe(
      "before\n\nof the **web**\n\nrich\n\n[A document within this one was not read: chunk.bin]\n\nof a *page*\n\nafter",
    );
  });

  test("has page notes, and the text boxes of headers once, and drops footers that only count pages", async () => {
    const box = `<w:txbxContent><w:p>${run("boxed")}</w:p></w:txbxContent>`;
    const document = zipOf({
      "word/document.xml": docxBody(`<w:p>${run("text")}</w:p>`),
      "word/_rels/document.xml.rels": relationships([
        ["h", "header", "header.xml"],
        ["f", "footer", "footer.xml"],
      ]),
      "word/header.xml": `<w:hdr><w:p><w:r><w:pict><v:textpath string="DRAFT"/></w:pict></w:r><w:r><mc:AlternateContent><mc:Choice>${box}</mc:Choice><mc:Fallback>${box}</mc:Fallback></mc:AlternateContent></w:r></w:p></w:hdr>`,
      "word/footer.xml": `<w:ftr><w:p>${run("Page 3 of 10")}</w:p></w:ftr>`,
    });
    expect(await textOf("docx", document)).toBe("text\n\nDRAFT boxed");
  });
});

test("slides have alternative texts, and their footers and layout texts once after the last slide", async () => {
  const shape = (text: string, place = "") =>
    `<p:sp><p:nvSpPr><p:nvPr>${place}</p:nvPr></p:nvSpPr><p:txBody><a:p><a:r><a:t>${text}</a:t></a:r></a:p></p:txBody></p:sp>`;
  const slide = (text: string) =>
    `<sld>${shape(text)}<p:pic><p:cNvPr id="4" name="P" descr="A graph of ${text}"/></p:pic>${shape("Acme 2026", `<p:ph type="ftr"/>`)}${shape("7", `<p:ph type="sldNum"/>`)}</sld>`;
  const on = relationships([["rId1", "slideLayout", "layout.xml"]]);
  const slides = zipOf({
    "ppt/presentation.xml": `<p xmlns:r="r"><sldId r:id="rId1"/><sldId r:id="rId2"/></p>`,
    "ppt/_rels/presentation.xml.rels": relationships([
      ["rId1", "slide", "one.xml"],
      ["rId2", "slide", "two.xml"],
    ]),
    "ppt/_rels/one.xml.rels": on,
    "ppt/_rels/two.xml.rels": on,
    "ppt/one.xml": slide("one"),
    "ppt/two.xml": slide("two"),
    "ppt/layout.xml": `<l>${shape("Click to add", `<p:ph type="title"/>`)}${shape("Confidential")}</l>`,
    "ppt/_rels/layout.xml.rels": relationships([["rId1", "slideMaster", "master.xml"]]),
    "ppt/master.xml": `<m>${shape("Acme Ltd")}</m>`,
    "ppt/_rels/master.xml.rels": relationships([["rId1", "slideLayout", "layout.xml"]]),
  });
  expect(await textOf("pptx", slides)).toBe(
    "one\n\n[Image: A graph of one]\n\ntwo\n\n[Image: A graph of two]\n\nAcme 2026\n\nConfidential\n\nAcme Ltd",
  );
});

test("a slide has typed dates but no date fields, the text of its layout, and no text twice", async () => {
  const shape = (text: string, place: string) =>
    `<p:sp><p:nvSpPr><p:nvPr>${place && `<p:ph type="${place}"/>`}</p:nvPr></p:nvSpPr><p:txBody><a:p>${text}</a:p></p:txBody></p:sp>`;
  const typed = (text: string) => `<a:r><a:t>${text}</a:t></a:r>`;
  const field = (text: string) => `<a:fld type="datetime1"><a:rPr/><a:t>${text}</a:t></a:fld>`;
  const slides = zipOf({
    "ppt/presentation.xml": `<p xmlns:r="r"><sldId r:id="rId1"/></p>`,
    "ppt/_rels/presentation.xml.rels": relationships([["rId1", "slide", "one.xml"]]),
    "ppt/_rels/one.xml.rels": relationships([["rId1", "slideLayout", "layout.xml"]]),
    "ppt/one.xml": `<sld><mc:AlternateContent><mc:Choice>${shape(typed("once"), "")}</mc:Choice><mc:Fallback>${shape(typed("once"), "")}</mc:Fallback></mc:AlternateContent>
      ${shape(typed("4.5.2026"), "dt")}${shape(field("1.1.2027"), "dt")}${shape(typed("Page ") + field("7"), "sldNum")}</sld>`,
    "ppt/layout.xml": `<l>${shape(typed("Click to add"), "title")}<p:pic><p:cNvPr descr="A green leaf"/></p:pic><p:graphicFrame><a:tbl><a:p>${typed("Room 12")}</a:p></a:tbl></p:graphicFrame></l>`,
  });
  expect(await textOf("pptx", slides)).toBe("once\n\n4.5.2026\n\n[Image: A green leaf]\n\nRoom 12");
});

describe("OpenDocument", () => {
  test("has the alternative texts of shapes, all names of charts, and whole titles of slides", async () => {
    const frame = (content: string, more = "") => `<draw:frame ${more}>${content}</draw:frame>`;
    const body = `<text:p>one<draw:custom-shape><svg:desc>An arrow</svg:desc></draw:custom-shape></text:p>${frame(`<draw:object xlink:href="Object 1/"/>`)}
      <draw:g><svg:title>Plan</svg:title></draw:g><text:h><text:number>1.2</text:number>Terms</text:h>
      <draw:page>${frame(`<draw:text-box><text:p>A${frame("")}B</text:p></draw:text-box>`, `presentation:class="title"`)}</draw:page>`;
    const chart = "<office:body><chart:title><text:p>Sales</text:p></chart:title></office:body>";
    expect(await textOf("odt", odfOf(body, { "Object 1/content.xml": chart }))).toBe(
      "one\n\n[Image: An arrow]\n\n[Image: Plan]\n\n# 1.2 Terms\n\n# AB\n\nSales",
    );
  });

  test("has stored values of cells that have no text, and keeps repeated cells", async () => {
    const cell = (attributes: string, text = "") =>
      `<table:table-cell ${attributes}>${text && `<text:p>${text}</text:p>`}</table:table-cell>`;
    const row = [
      cell(`office:value-type="float" office:value="12.5"`),
      cell(`office:value-type="string" office:string-value="said"`),
      cell(`office:value-type="date" office:date-value="2026-11-28"`),
      cell(`office:value-type="float" office:value="0.25"`, "25 %"),
      cell(`table:number-columns-repeated="-5"`, "kept"),
      cell(`table:formula="of:=A1*2"`),
    ];
    const table = `<table:table><table:table-row table:number-rows-repeated="-1">${row.join("")}</table:table-row></table:table>`;
    expect(await textOf("odt", odfOf(table))).toStartWith("| 12.5 | said | 2026-11-28 | 25 % | kept | =A1*2 |\n");
  });

  test("keeps fields of text, alternative texts and formulas", async () => {
    const body = `<text:p>on <text:date>27 May</text:date> by <text:creator>Ann</text:creator>, <text:title>Plan</text:title><office:annotation><dc:creator>Bob</dc:creator><dc:date>2026-01-01</dc:date><text:p>why?</text:p></office:annotation></text:p>
      <text:p><draw:frame><draw:image/><svg:title>Plan</svg:title><svg:desc>The first floor</svg:desc></draw:frame>here <draw:object xlink:href="./Object 1"/></text:p>`;
    const formula = `<math:math><math:semantics><math:mi>a</math:mi><math:annotation>a over 2</math:annotation></math:semantics></math:math>`;
    expect(await textOf("odt", odfOf(body, { "Object 1/content.xml": formula }))).toBe(
      "on 27 May by Ann, Plan\n\n> Comment by Bob: why?\n\nhere\n\n[Image: Plan: The first floor]\n\na over 2",
    );
  });

  test("has the drawings of a sheet and its printed headers and footers, without page numbers", async () => {
    const body = `<office:spreadsheet><table:table table:name="S"><table:shapes><draw:custom-shape><text:p>drawn</text:p></draw:custom-shape></table:shapes><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell></table:table-row></table:table></office:spreadsheet>`;
    const styles = `<s><style:master-page><style:header><style:region-left><text:p>Acme<text:s/>Ltd</text:p></style:region-left><style:region-right><text:p><text:sheet-name>???</text:sheet-name></text:p></style:region-right></style:header>
      <style:header-left style:display="false"><text:p>unused</text:p></style:header-left><style:footer><text:p>Page <text:page-number>1</text:page-number></text:p></style:footer></style:master-page></s>`;
    expect(await textOf("odt", odfOf(body, { "styles.xml": styles }))).toBe(
      "# S\n\n| a |\n| --- |\n\ndrawn\n\nAcme Ltd",
    );
  });

  test("has footers and background texts of slides once, without placeholders", async () => {
    const body = `<office:presentation><presentation:footer-decl presentation:name="f">Acme 2026</presentation:footer-decl><draw:page><draw:frame><draw:text-box><text:p>one</text:p></draw:text-box></draw:frame></draw:page></office:presentation>`;
    const styles = `<s><style:master-page><draw:frame presentation:class="title"><draw:text-box><text:p>Click to add</text:p></draw:text-box></draw:frame><draw:custom-shape><text:p>Confidential</text:p></draw:custom-shape></style:master-page></s>`;
    expect(await textOf("odt", odfOf(body, { "styles.xml": styles }))).toBe("one\n\nConfidential\n\nAcme 2026");
  });
});

test("RTF keeps list numbers of older programs and formulas", async () => {
  const rtf = String.raw`{\rtf1\ansi{\pntext 1.\tab}one\par{\*\pn\pnlvlbody{\pntxta .}}{\pntext 2.\tab}two {\mmath{\*\moMath{\mr y=x}}}\par}`;
  expect(await textOf("rtf", rtf)).toBe("1.\tone\n\n2.\ttwo y=x");
});

test("a PDF has form fields by name, selected entries and comments, but no passwords", async () => {
  const widget = (more: string) => `<< /Type /Annot /Subtype /Widget /F 4 /Rect [100 600 300 620] ${more} >>`;
  const noted = (kind: string, more: string) => `<< /Type /Annot /Subtype /${kind} /Rect [100 500 120 520] ${more} >>`;
  const annotations = [
    widget("/FT /Tx /T (name) /TU (Full name) /V (Ann Lee)"),
    widget("/FT /Tx /T (empty)"),
    widget("/FT /Tx /Ff 8192 /T (secret) /V (hush)"),
    widget("/FT /Ch /Ff 131072 /T (country) /Opt [[(no) (Norway)] [(se) (Sweden)]] /V (no)"),
    widget("/FT /Btn /T (agree) /V /Yes /AS /Yes /AP << /N << /Yes 5 0 R /Off 5 0 R >> >>"),
    widget("/FT /Btn /T (refuse) /V /Off /AS /Off /AP << /N << /Yes 5 0 R /Off 5 0 R >> >>"),
    noted("Text", "/Contents (Is this so?) /T (Bob)"),
    noted("FreeText", "/Contents (Typed over it) /DA (/F1 9 Tf)"),
    noted("Text", "/Contents (Nobody sees it) /F 2"),
    noted("Link", "/Contents (a link) /A << /S /URI /URI (https://example.test) >>"),
  ];
  const first = 6;
  const references = annotations.map((_, at) => `${first + at} 0 R`).join(" ");
  const pdf = pdfFrom([
    `<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [${references}] >> >>`,
    "<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Annots [${references}] /Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> /Contents 4 0 R >>`,
    streamOf("BT /F1 12 Tf 100 700 Td (Application) Tj ET"),
    streamOf("", "/Type /XObject /Subtype /Form /BBox [0 0 1 1] "),
    ...annotations,
  ]);
  const { sections } = await parse(pdf, mimeTypes.pdf);
  expect(sections.map(({ text }) => text).join("\n\n")).toBe(
    [
      "Application",
      "> Comment by Bob: Is this so?",
      "Typed over it",
      "Full name: Ann Lee",
      "country: Norway",
      "agree: Yes",
    ].join("\n\n"),
  );
  const field = sections[0]!.places![3];
  expect(field!.box.map((side) => Math.round(side * 100))).toEqual([17, 26, 50, 29]);
});

test("a web page has the footers of articles and quotations, but not its own", async () => {
  const page = `<h1>T</h1><blockquote>Said<footer>Ann Lee</footer></blockquote><article><p>Text</p><FOOTER class="f">Bob</FOOTER></article><footer>Imprint</footer>`;
  const text = await textOf("html", page);
  for (const word of ["Said", "Ann Lee", "Text", "Bob"]) expect(text).toContain(word);
  expect(text).not.toContain("Imprint");
});

test("an e-mail has attachment names given in parts, and delivery reports", async () => {
  const mail = [
    "Subject: Back\r\nReply-To: c@x.test\r\nBcc: d@x.test\r\nContent-Type: multipart/report; boundary=o\r\n",
    `--o\r\nContent-Type: application/pdf\r\nContent-Disposition: attachment; filename*0*=utf-8''B%C3%BCro%20; filename*1="plan";\r\n filename*2=.pdf\r\n\r\nx`,
    "--o\r\nContent-Type: message/delivery-status\r\n\r\nStatus: 5.1.1\r\n\r\nDiagnostic-Code: smtp; nobody here\r\n--o--",
  ];
  expect(await textOf("eml", mail.join("\r\n"))).toBe(
    "# Back\n\nReply-To: c@x.test\nBcc: d@x.test\n\nStatus: 5.1.1\n\nDiagnostic-Code: smtp; nobody here\n\n## Attachment: Büro plan.pdf",
  );
});
