import { describe, expect, test } from "bun:test";
import { docxBody, epubOf, odfOf, relationships, zipOf } from "../../testing/documents.ts";
import { mimeTypes } from "../../testing/hostile-documents/hostile-document.ts";
import { parse } from "./parse.ts";

const utf8 = (text: string) => new TextEncoder().encode(text);

/** Returns the text that is shown, all text, and the warnings of the text that is left out. */
async function readBoth(content: Uint8Array, type: string) {
  const read = async (includeHidden: boolean) => {
    const { sections, pages, report } = await parse(content.slice(), type, { includeHidden });
    const text = sections.map(({ text }) => text).join("\n\n");
    return { text, pages, warnings: report.warnings.map(({ code, message, page }) => ({ code, message, page })) };
  };
  const [shown, all] = [await read(false), await read(true)];
  expect(all.warnings).toEqual([]);
  expect(shown.warnings.filter(({ code }) => code !== "hidden_text_skipped")).toEqual([]);
  return {
    shown: shown.text,
    all: all.text,
    pages: shown.pages,
    warnings: shown.warnings.map(({ message }) => message),
    on: shown.warnings.map(({ page }) => page),
  };
}
const leftOut = (what: string) => `${what}. Upload with include_hidden to read it.`;

describe("a text document", () => {
  const run = (text: string, properties = "") => `<w:r><w:rPr>${properties}</w:rPr><w:t>${text}</w:t></w:r>`;
  const documentOf = (body: string, parts: Record<string, string> = {}) =>
    zipOf({
      "word/document.xml": docxBody(body),
      "word/_rels/document.xml.rels": relationships(
        Object.keys(parts).map((type) => [type, type, `${type}.xml`] as const),
      ),
      ...Object.fromEntries(Object.entries(parts).map(([type, part]) => [`word/${type}.xml`, part])),
    });

  test("leaves out hidden runs, styles and rows, and says how much and where", async () => {
    const styles = `<w:styles><w:style w:styleId="T"><w:name w:val="heading 1"/></w:style>
      <w:style w:styleId="Secret"><w:rPr><w:vanish/></w:rPr></w:style><w:style w:styleId="Sub"><w:basedOn w:val="Secret"/></w:style></w:styles>`;
    const body = `<w:p><w:pPr><w:pStyle w:val="T"/></w:pPr>${run("Terms")}</w:p>
      <w:p><w:pPr><w:rPr><w:vanish/></w:rPr></w:pPr>${run("Seen ")}${run("one two", "<w:vanish/>")}${run("also seen", `<w:vanish w:val="0"/>`)}</w:p>
      <w:p>${run("three", `<w:rStyle w:val="Sub"/>`)}${run("was hidden", `<w:rPrChange><w:rPr><w:vanish/></w:rPr></w:rPrChange>`)}</w:p>
      <w:p><w:pPr><w:pStyle w:val="Secret"/></w:pPr>${run("four")}${run("shown", `<w:vanish w:val="false"/>`)}</w:p>
      <w:tbl><w:tr><w:tc><w:p>${run("a")}</w:p></w:tc></w:tr><w:tr><w:trPr><w:hidden/></w:trPr><w:tc><w:p>${run("five")}</w:p></w:tc></w:tr></w:tbl>
      <w:p>${run("x", `<w:color w:val="FFFFFF"/>`)}</w:p>`;
    const { shown, all, warnings } = await readBoth(documentOf(body, { styles }), mimeTypes.docx);
    expect(shown).toBe("# Terms\n\nSeen also seen\n\nwas hidden\n\nshown\n\n| a |\n| --- |\n\nx");
    for (const word of ["one two", "three", "fourshown", "| five |"]) expect(all).toContain(word);
    expect(warnings).toEqual([
      leftOut("Hidden text was left out: 4 words in 3 places (“Terms”)"),
      leftOut("Text of hidden rows was left out: 1 word (“Terms”)"),
    ]);
  });

  test("has the text as if all tracked changes were accepted, and marks deletions if they are asked for", async () => {
    const deleted = (text: string) => `<w:del w:id="1"><w:r><w:delText>${text}</w:delText></w:r></w:del>`;
    const body = `<w:p>${run("Pay within ")}${deleted("30")}<w:ins w:id="2">${run("60")}</w:ins>${run(" days")}</w:p>
      <w:p><w:moveFrom>${run("moved")}</w:moveFrom><w:moveTo>${run("moved")}</w:moveTo></w:p>`;
    const { shown, all, warnings } = await readBoth(documentOf(body), mimeTypes.docx);
    expect([shown, all]).toEqual(["Pay within 60 days\n\nmoved", "Pay within ~~30~~60 days\n\nmoved"]);
    expect(warnings).toEqual([leftOut("Text deleted with tracked changes was left out: 1 word")]);
  });

  test("leaves out hidden text of notes and headers too, and keeps comments", async () => {
    const parts = {
      footnotes: `<w:footnotes><w:footnote w:id="1"><w:p>${run("note")}${run(" secret", "<w:vanish/>")}</w:p></w:footnote></w:footnotes>`,
      header: `<w:hdr><w:p>${run("Head")}${run(" secret", "<w:vanish/>")}</w:p></w:hdr>`,
      comments: `<w:comments><w:comment w:id="1"><w:p>${run("is it?")}</w:p></w:comment></w:comments>`,
    };
    const body = `<w:p>${run("text")}<w:r><w:footnoteReference w:id="1"/></w:r><w:r><w:commentReference w:id="1"/></w:r></w:p>`;
    const { shown, warnings } = await readBoth(documentOf(body, parts), mimeTypes.docx);
    expect(shown).toBe("text[^1]\n\n[^1]: note\n\n> Comment: is it?\n\nHead");
    expect(warnings).toHaveLength(1);
  });

  test("that shows nothing says that its text is hidden", () => {
    const body = `<w:p>${run("secret", "<w:vanish/>")}</w:p>`;
    expect(parse(documentOf(body), mimeTypes.docx)).rejects.toThrow(
      "It shows no text. Hidden text was left out: 1 word.",
    );
  });
});

test("a workbook leaves out hidden sheets, rows and columns, and what merged cells cover", async () => {
  const cell = (at: string, text: string) => `<c r="${at}" t="inlineStr"><is><t>${text}</t></is></c>`;
  const sheet = `<worksheet><cols><col min="2" max="2" hidden="1"/></cols><sheetData>
    <row r="1">${cell("A1", "name")}${cell("B1", "margin")}${cell("C1", "price")}</row>
    <row r="2" hidden="1">${cell("A2", "rudder")}</row>
    <row r="3">${cell("A3", "oar")}${cell("B3", "5")}${cell("C3", "12")}</row>
    <row r="4">${cell("C4", "covered")}${cell("D4", "below")}</row>
    </sheetData><mergeCells><mergeCell ref="C3:C4"/></mergeCells></worksheet>`;
  const book = zipOf({
    "xl/workbook.xml": `<workbook><sheets><sheet name="Prices" r:id="a"/><sheet name="Rates" state="hidden" r:id="b"/>
      <sheet name="Deep" state="veryHidden" r:id="c"/></sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": relationships(["a", "b", "c"].map((id) => [id, "worksheet", `${id}.xml`] as const)),
    "xl/a.xml": sheet,
    "xl/b.xml": `<worksheet><sheetData><row>${cell("A1", "secret rate")}</row></sheetData></worksheet>`,
    "xl/c.xml": `<worksheet><sheetData><row>${cell("A1", "deeper")}</row></sheetData></worksheet>`,
  });
  const { shown, all, warnings } = await readBoth(book, mimeTypes.xlsx);
  expect(shown).toBe("# Prices\n\n| name | price |\n| --- | --- |\n| oar | 12 |\n|  |  | below |");
  for (const word of ["margin", "rudder", "covered", "# Rates", "secret rate", "# Deep"]) expect(all).toContain(word);
  expect(warnings).toEqual([
    leftOut("Text of hidden columns was left out: 2 words (“Prices” column B)"),
    leftOut("Text of hidden rows was left out: 1 word (“Prices” row 2)"),
    leftOut("Text that merged cells cover was left out: 1 word (“Prices” C4)"),
    leftOut("Text of hidden sheets was left out: 3 words in 2 places (“Rates”, “Deep”)"),
  ]);
});

test("a presentation leaves out hidden slides with their notes, and hidden shapes; the others keep their numbers", async () => {
  const shape = (text: string, hidden = "") =>
    `<p:sp><p:nvSpPr><p:cNvPr id="1" name="x"${hidden}/></p:nvSpPr><p:txBody><a:p><a:r><a:t>${text}</a:t></a:r></a:p></p:txBody></p:sp>`;
  const group = `<p:grpSp><p:nvGrpSpPr><p:cNvPr id="1" name="g" hidden="1"/></p:nvGrpSpPr>${shape("in a group")}</p:grpSp>`;
  const slide = (text: string, attribute = "") => `<p:sld${attribute}><p:cSld>${text}</p:cSld></p:sld>`;
  const show = zipOf({
    "ppt/presentation.xml": `<p><sldId r:id="a"/><sldId r:id="b"/><sldId r:id="c"/></p>`,
    "ppt/_rels/presentation.xml.rels": relationships(["a", "b", "c"].map((id) => [id, "slide", `${id}.xml`] as const)),
    "ppt/a.xml": slide(shape("first") + shape("draft only", ` hidden="1"`) + group + shape("last")),
    "ppt/b.xml": slide(shape("secret plan"), ` xmlns:p="p" show="0"`),
    "ppt/_rels/b.xml.rels": relationships([["n", "notesSlide", "n.xml"]]),
    "ppt/n.xml": slide(shape("say nothing")),
    "ppt/c.xml": slide(shape("third"), ` show="1"`),
  });
  const { shown, all, pages, warnings, on } = await readBoth(show, mimeTypes.pptx);
  expect([shown, pages]).toEqual(["first\n\nlast\n\nthird", 3]);
  for (const word of ["draft only", "in a group", "secret plan", "say nothing"]) expect(all).toContain(word);
  expect(warnings).toEqual([
    leftOut("Text of hidden shapes was left out: 5 words in 2 places"),
    leftOut("Text of hidden slides was left out: 4 words"),
  ]);
  expect(on).toEqual([1, 2]);
});

test("merged cells of texts and slides have their value once; what they cover is hidden", async () => {
  const cell = (text: string, properties = "") =>
    `<w:tc><w:tcPr>${properties}</w:tcPr><w:p><w:r><w:t>${text}</w:t></w:r></w:p></w:tc>`;
  const table = `<w:tbl><w:tr>${cell("Q1", `<w:vMerge w:val="restart"/>`)}${cell("Jan")}</w:tr><w:tr>${cell("old", "<w:vMerge/>")}${cell("Feb")}</w:tr></w:tbl>`;
  const document = await readBoth(zipOf({ "word/document.xml": docxBody(table) }), mimeTypes.docx);
  expect(document.shown).toBe("| Q1 | Jan |\n| --- | --- |\n|  | Feb |");
  expect(document.all).toContain("| old | Feb |");
  const slideCell = (text: string, attributes = "") =>
    `<a:tc${attributes}><a:txBody><a:p><a:r><a:t>${text}</a:t></a:r></a:p></a:txBody></a:tc>`;
  const slide = `<p:sld><p:graphicFrame><a:tbl><a:tr>${slideCell("Q1", ` gridSpan="2"`)}${slideCell("old", ` hMerge="1"`)}</a:tr><a:tr>${slideCell("Jan")}${slideCell("Feb")}</a:tr></a:tbl></p:graphicFrame></p:sld>`;
  const show = await readBoth(
    zipOf({
      "ppt/presentation.xml": `<p><sldId r:id="a"/></p>`,
      "ppt/_rels/presentation.xml.rels": relationships([["a", "slide", "a.xml"]]),
      "ppt/a.xml": slide,
    }),
    mimeTypes.pptx,
  );
  expect(show.shown).toBe("| Q1 |  |\n| --- | --- |\n| Jan | Feb |");
  expect(show.all).toContain("| Q1 | old |");
  for (const { warnings } of [document, show])
    expect(warnings).toEqual([leftOut("Text that merged cells cover was left out: 1 word")]);
});

describe("OpenDocument", () => {
  test("texts leave out hidden styles, sections and fields, and deletions", async () => {
    const styles = `<s><style:style style:name="P9" style:family="paragraph"><style:text-properties text:display="none"/></style:style>
      <style:style style:name="T1" style:family="text"><style:text-properties text:display="none"/></style:style>
      <style:style style:name="T2" style:family="text" style:parent-style-name="T1"/></s>`;
    const body = `<text:tracked-changes><text:changed-region text:id="c1"><text:deletion><office:change-info><dc:creator>Ann</dc:creator></office:change-info><text:p>30</text:p></text:deletion></text:changed-region></text:tracked-changes>
      <text:h text:outline-level="1">Terms</text:h><text:p>Pay in <text:change text:change-id="c1"/>60 days<text:span text:style-name="T2"> secret</text:span><text:hidden-text text:is-hidden="true" text:string-value="field"/></text:p>
      <text:p text:style-name="P9">whole one</text:p><text:p>by a field<text:hidden-paragraph text:is-hidden="true"/></text:p><text:section text:display="none"><text:p>in a section</text:p></text:section><text:p>End</text:p>`;
    const { shown, all, warnings } = await readBoth(odfOf(body, { "styles.xml": styles }), mimeTypes.odt);
    expect(shown).toBe("# Terms\n\nPay in 60 days\n\nEnd");
    for (const word of ["~~30~~60", "secret", "whole one", "by a field", "in a section"]) expect(all).toContain(word);
    expect(all).not.toContain("Ann");
    expect(warnings).toEqual([
      leftOut("Text deleted with tracked changes was left out: 1 word (“Terms”)"),
      leftOut("Hidden text was left out: 10 words in 5 places (“Terms”)"),
    ]);
  });

  test("workbooks leave out hidden sheets, rows and columns, and what merged cells cover", async () => {
    const cell = (text: string) =>
      `<table:table-cell office:value-type="string"><text:p>${text}</text:p></table:table-cell>`;
    const row = (cells: string, attributes = "") => `<table:table-row${attributes}>${cells}</table:table-row>`;
    const content = `<office:document-content><office:automatic-styles><style:style style:name="ta1" style:family="table"><style:table-properties table:display="false"/></style:style></office:automatic-styles><office:body><office:spreadsheet>
      <table:table table:name="Prices"><table:table-column/><table:table-column table:number-columns-repeated="2" table:visibility="collapse"/><table:table-column/>
      ${row(cell("name") + cell("margin") + cell("cost") + cell("price"))}
      ${row(cell("rudder"), ` table:visibility="filter"`)}
      ${row(`${cell("oar")}<table:table-cell table:number-columns-repeated="2"/>${cell("12")}<table:covered-table-cell office:value-type="string" office:string-value="x"><text:p>covered</text:p></table:covered-table-cell>${cell("end")}`)}
      </table:table><table:table table:name="Rates" table:style-name="ta1">${row(cell("secret rate"))}</table:table></office:spreadsheet></office:body></office:document-content>`;
    const book = zipOf({ mimetype: "application/vnd.oasis.opendocument.spreadsheet", "content.xml": content });
    const { shown, all, warnings } = await readBoth(book, "application/vnd.oasis.opendocument.spreadsheet");
    expect(shown).toBe("# Prices\n\n| name | price |\n| --- | --- |\n| oar | 12 |  | end |");
    for (const word of ["margin", "cost", "rudder", "covered", "# Rates", "secret rate"]) expect(all).toContain(word);
    expect(warnings).toEqual([
      leftOut("Text of hidden columns was left out: 2 words (“Prices”)"),
      leftOut("Text of hidden rows was left out: 1 word (“Prices”)"),
      leftOut("Text that merged cells cover was left out: 1 word (“Prices”)"),
      leftOut("Text of hidden sheets was left out: 2 words (“Rates”)"),
    ]);
  });

  test("presentations leave out hidden slides; the others keep their numbers", async () => {
    const page = (text: string, style = "") =>
      `<draw:page draw:style-name="${style}"><draw:frame><draw:text-box><text:p>${text}</text:p></draw:text-box></draw:frame></draw:page>`;
    const content = `<d><office:automatic-styles><style:style style:name="dp2" style:family="drawing-page"><style:drawing-page-properties presentation:visibility="hidden"/></style:style></office:automatic-styles>
      <office:body><office:presentation>${page("first")}${page("secret plan", "dp2")}${page("third")}</office:presentation></office:body></d>`;
    const { shown, all, pages, warnings } = await readBoth(
      zipOf({ "content.xml": content }),
      "application/vnd.oasis.opendocument.presentation",
    );
    expect([shown, pages]).toEqual(["first\n\nthird", 3]);
    expect(all).toContain("secret plan");
    expect(warnings).toEqual([leftOut("Text of hidden slides was left out: 2 words (slide 2)")]);
  });
});

test("rich text leaves out hidden text, and deletions, which are marked if they are asked for", async () => {
  const rtf = "{\\rtf1 Pay in {\\deleted 30 }60 days{\\v  secret}\\v  more\\v0  end\\par {\\v x \\plain shown}\\par}";
  const { shown, all, warnings } = await readBoth(utf8(rtf), mimeTypes.rtf);
  expect(shown).toBe("Pay in 60 days end\n\nshown");
  expect(all).toBe("Pay in ~~30 ~~60 days secret more end\n\nx shown");
  expect(warnings).toEqual([
    leftOut("Hidden text was left out: 3 words in 2 places"),
    leftOut("Text deleted with tracked changes was left out: 1 word"),
  ]);
});

describe("a web page", () => {
  test("leaves out elements that are hidden by their own attributes", async () => {
    const page = `<h1>A</h1><p hidden>one</p><div style="color:red; DISPLAY : none"><div>two</div>three</div>
      <p data-x="hidden" class="hidden">kept</p><span style='visibility:hidden'>four</span><p style="display:block">block</p>
      <p aria-hidden="true">icon</p><!-- <p hidden> --><script>"<div hidden>"</script><p>last</p>`;
    const { shown, all, warnings } = await readBoth(utf8(page), mimeTypes.html);
    expect(shown.split(/\n+/)).toEqual(["# A", "kept", "block", "icon", "last"]);
    for (const word of ["one", "two", "three", "four"]) expect(all).toContain(word);
    expect(warnings).toEqual([leftOut("Hidden text was left out: 4 words in 3 places")]);
  });

  test("has the text of elements that its styles place, and of those that a search opens", async () => {
    const page = `<div style="position:absolute; top: 9px">placed</div><p style='position: fixed' id=x>fixed</p><p hidden="until-found">folded</p>`;
    const { shown, warnings } = await readBoth(utf8(page), mimeTypes.html);
    expect([shown.split(/\n+/), warnings]).toEqual([["placed", "fixed", "folded"], []]);
  });

  test("of a book follows the same rule", async () => {
    const { shown, warnings } = await readBoth(epubOf(["<p>a</p><p hidden='hidden'>b</p>"]), mimeTypes.epub);
    expect([shown, warnings.length]).toEqual(["a", 1]);
  });
});
