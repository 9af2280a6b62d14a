import { expect, test } from "bun:test";
import { parse } from "./parse.ts";

async function read(xml: string, type: string, includeHidden = false) {
  const { sections, report, pages } = await parse(new TextEncoder().encode(xml), type, { includeHidden });
  return { text: sections.map(({ text }) => text).join("\n\n"), warnings: report.warnings, pages };
}

test("a document of Word 2003 in XML has headings, list marks, tables, notes, comments and headers, and no markup", async () => {
  const run = (text: string, properties = "") => `<w:r><w:rPr>${properties}</w:rPr><w:t>${text}</w:t></w:r>`;
  const item = (text: string, mark: string) =>
    `<w:p><w:pPr><w:listPr><w:ilvl w:val="0"/><w:ilfo w:val="1"/><wx:t wx:val="${mark}"/></w:listPr></w:pPr>${run(text)}</w:p>`;
  const xml = `<?xml version="1.0" encoding="UTF-8"?><?mso-application progid="Word.Document"?>
    <w:wordDocument xmlns:w="http://schemas.microsoft.com/office/word/2003/wordml"><o:DocumentProperties><o:Title>T</o:Title></o:DocumentProperties>
    <w:styles><w:style w:styleId="H"><w:name w:val="heading 1"/></w:style></w:styles><w:docPr><w:view w:val="print"/></w:docPr>
    <w:body><wx:sect><wx:sub-section><w:p><w:pPr><w:pStyle w:val="H"/></w:pPr>${run("Rules")}</w:p>
    ${item("first", "1.")}${item("second", "2.")}${item("dot", "·")}
    <w:p>${run("The key")}<w:r><w:footnote><w:p>${run("of brass")}</w:p></w:footnote></w:r>${run(" hangs.")}${run("secret", "<w:vanish/>")}
    <aml:annotation w:type="Word.Deletion"><aml:content><w:r><w:delText>not</w:delText></w:r></aml:content></aml:annotation>
    <aml:annotation w:type="Word.Insertion"><aml:content>${run(" Now.")}</aml:content></aml:annotation>
    <aml:annotation w:type="Word.Comment" aml:author="Ann"><aml:content><w:p>${run("really?")}</w:p></aml:content></aml:annotation></w:p>
    <w:tbl><w:tr><w:tc><w:p>${run("a")}</w:p></w:tc><w:tc><w:p>${run("b")}</w:p></w:tc></w:tr></w:tbl></wx:sub-section>
    <w:sectPr><w:hdr w:type="odd"><w:p>${run("Acme head")}</w:p></w:hdr><w:ftr w:type="odd"><w:p>${run("Acme foot")}</w:p></w:ftr></w:sectPr></wx:sect></w:body></w:wordDocument>`;
  const { text, warnings } = await read(xml, "application/vnd.ms-wordml");
  expect(text).toBe(
    [
      "# Rules\n\n1. first\n2. second\n- dot\n\nThe key hangs. Now.",
      "Note: of brass\n\n> Comment by Ann: really?\n\n| a | b |\n| --- | --- |",
      "Acme head\n\nAcme foot",
    ].join("\n\n"),
  );
  expect(warnings.map(({ code }) => code)).toEqual(["hidden_text_skipped", "hidden_text_skipped"]);
});

test("a workbook of Excel 2003 in XML has its sheets as tables, with dates, comments and gaps, and no hidden ones", async () => {
  const cell = (text: string, type = "String", more = "") =>
    `<Cell${more}><Data ss:Type="${type}">${text}</Data></Cell>`;
  const xml = `<?xml version="1.0"?><?mso-application progid="Excel.Sheet"?>
    <Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet" xmlns:ss="urn:schemas-microsoft-com:office:spreadsheet">
    <Worksheet ss:Name="Prices"><Table><Column/><Column ss:Hidden="1"/>
    <Row>${cell("Prices of 2026")}</Row>
    <Row ss:Index="4">${cell("name")}${cell("margin")}${cell("since", "String", ` ss:Index="5"`)}</Row>
    <Row><Cell ss:MergeAcross="1"><Data ss:Type="String"><B>o</B>ar</Data><Comment ss:Author="Ann"><ss:Data>of <B>ash</B></ss:Data></Comment></Cell>
    ${cell("2026-03-02T00:00:00.000", "DateTime", ` ss:Index="5"`)}${cell("1", "Boolean")}</Row>
    <Row ss:Hidden="1">${cell("rudder")}</Row></Table></Worksheet>
    <Worksheet ss:Name="Rates"><Table><Row>${cell("secret")}</Row></Table><WorksheetOptions><Visible>SheetHidden</Visible></WorksheetOptions></Worksheet></Workbook>`;
  const shown = await read(xml, "application/vnd.ms-spreadsheetml");
  expect(shown.text).toBe(
    "# Prices\n\nPrices of 2026\n\n| name | since |\n| --- | --- |\n| oar | 2026-03-02 | TRUE |\n\n> Comment: of ash",
  );
  expect(shown.warnings.map(({ message }) => message.split(" was left out")[0])).toEqual([
    "Text of hidden columns",
    "Text of hidden rows",
    "Text of hidden sheets",
  ]);
  const all = await read(xml, "application/vnd.ms-spreadsheetml", true);
  for (const word of ["margin", "rudder", "# Rates", "secret"]) expect(all.text).toContain(word);
});

test("an OpenDocument in one XML file is read like its archive, without the data of its images", async () => {
  const of = (kind: string, body: string) =>
    `<?xml version="1.0"?><office:document office:mimetype="application/vnd.oasis.opendocument.${kind}">
     <office:automatic-styles><style:style style:name="T" style:family="text"><style:text-properties text:display="none"/></style:style></office:automatic-styles>
     <office:master-styles><style:master-page><style:header><text:p>Acme secret</text:p></style:header></style:master-page></office:master-styles>
     <office:body>${body}</office:body></office:document>`;
  const text = `<office:text><text:h text:outline-level="1">Head</text:h><text:p>The key<text:span text:style-name="T">hidden</text:span>
    <draw:frame><draw:image><office:binary-data>iVBORw0KGgo=</office:binary-data></draw:image></draw:frame>
    <draw:object><math:math><math:semantics><math:mi>x</math:mi><math:annotation>x over y</math:annotation></math:semantics></math:math></draw:object> hangs.</text:p></office:text>`;
  const document = await read(of("text", text), "application/vnd.oasis.opendocument.text-flat-xml");
  expect(document.text.replace(/\s+/g, " ")).toBe("# Head The key hangs. x over y Acme secret");
  expect(document.warnings).toMatchObject([{ code: "hidden_text_skipped" }]);
  const sheet = `<office:spreadsheet><table:table table:name="S"><table:table-row><table:table-cell><text:p>oar</text:p></table:table-cell></table:table-row></table:table></office:spreadsheet>`;
  const book = await read(of("spreadsheet", sheet), "application/vnd.oasis.opendocument.spreadsheet-flat-xml");
  expect(book.text).toStartWith("# S\n\n| oar |");
  const slides = `<office:presentation><draw:page><draw:frame><draw:text-box><text:p>one</text:p></draw:text-box></draw:frame></draw:page></office:presentation>`;
  expect(
    (await read(of("presentation", slides), "application/vnd.oasis.opendocument.presentation-flat-xml")).pages,
  ).toBe(1);
});

test("XML that names another encoding is read in it", async () => {
  const xml = `<?xml version="1.0" encoding="windows-1251"?><Workbook><Worksheet ss:Name="S"><Table><Row><Cell><Data>`;
  const bytes = Buffer.concat([
    Buffer.from(xml),
    Buffer.from([0xca, 0xeb, 0xfe, 0xf7]),
    Buffer.from("</Data></Cell></Row></Table></Worksheet></Workbook>"),
  ]);
  const { sections } = await parse(new Uint8Array(bytes), "application/vnd.ms-spreadsheetml");
  expect(sections[0]?.text).toContain("Ключ");
});

test("a document in one XML file whose parts never end is refused in linear time", async () => {
  const xml = `<?xml version="1.0"?><pkg:package xmlns:pkg="http://schemas.microsoft.com/office/2006/xmlPackage">`;
  const open = read(xml + '<pkg:part pkg:name="/a">'.repeat(100_000), "application/vnd.ms-word2006ml");
  await expect(open).rejects.toMatchObject({ code: "document_unreadable" });
});
