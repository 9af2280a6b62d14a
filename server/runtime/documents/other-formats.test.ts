import { expect, test } from "bun:test";
import { epubOf, odfOf } from "../../testing/documents.ts";
import { mimeTypes } from "../../testing/hostile-documents/hostile-document.ts";
import { parse } from "./parse.ts";

const textOf = async (kind: keyof typeof mimeTypes, content: Uint8Array | string) =>
  (await parse(typeof content === "string" ? new TextEncoder().encode(content) : content, mimeTypes[kind])).sections
    .map(({ text }) => text)
    .join("\n\n");

test("OpenDocument: headings, lists with numbers, notes, comments, tables, formulas, raised letters, charts and heads", async () => {
  const styles = `<text:list-style style:name="L"><text:list-level-style-number text:level="1" style:num-format="1" style:num-suffix="."/>
    <text:list-level-style-number text:level="2" style:num-format="a" style:num-prefix="(" style:num-suffix=")"/></text:list-style>
    <style:style style:name="T"><style:text-properties style:text-position="super 58%"/></style:style>
    <style:master-page><style:header><text:p>Acme secret</text:p></style:header><style:footer><text:p>7</text:p></style:footer></style:master-page>`;
  const item = (text: string, more = "") => `<text:list-item><text:p>${text}</text:p>${more}</text:list-item>`;
  const body = `<text:h text:outline-level="2">Head</text:h>
    <text:p>x<text:span text:style-name="T">2</text:span>  is<text:s text:c="2"/>big<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>see there</text:p></text:note-body></text:note><office:annotation><dc:creator>Ann</dc:creator><text:p>really?</text:p></office:annotation></text:p>
    <text:list text:style-name="L">${item("one", `<text:list>${item("deep")}</text:list>`)}${item("two")}</text:list>
    <text:p>between</text:p><text:list text:style-name="L" text:continue-numbering="true">${item("three")}</text:list>
    <table:table table:name="S"><table:table-row><table:table-cell table:number-columns-repeated="2"><text:p>a</text:p></table:table-cell></table:table-row>
    <table:table-row><table:table-cell table:formula="of:=SUM([.A1:.A3])"/><table:table-cell/></table:table-row><table:table-row table:number-rows-repeated="1000000"><table:table-cell/></table:table-row></table:table>
    <text:p><draw:text-box><text:p>boxed</text:p></draw:text-box>after<draw:object xlink:href="./Object 1"/></text:p>`;
  const object = `<o><office:body><table:table><table:table-row><table:table-cell><text:p>Alpha</text:p></table:table-cell></table:table-row></table:table></office:body></o>`;
  const document = odfOf(body, { "styles.xml": `<s>${styles}</s>`, "Object 1/content.xml": object });
  expect(await textOf("odt", document)).toBe(
    [
      "## Head\n\nx^2 is  big[^1]",
      "[^1]: see there",
      "> Comment by Ann: really?",
      "1. one\n  (a) deep\n2. two",
      "between",
      "3. three",
      "| a | a |\n| --- | --- |\n| =SUM([.A1:.A3]) |",
      "after",
      "boxed",
      "| Alpha |\n| --- |",
      "Acme secret",
    ].join("\n\n"),
  );
});

test("EPUB: chapters in reading order", async () => {
  expect(await textOf("epub", epubOf(["<h1>One</h1><p>x<sup>2</sup></p>", "<h1>Two</h1><p>last</p>"]))).toBe(
    "# One\n\nx^2\n\n# Two\n\nlast",
  );
});

test("RTF: every script, headings, tables, notes, raised letters and list numbers, without markup", async () => {
  const rtf = String.raw`{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 Arial;}{\f1\fcharset134 Sim;}}{\*\generator X;}{\info{\title no}}
{\header Acme secret\par}{\pard\outlinelevel0 Head\par}
\pard{\listtext 1.\tab}caf\'e9 {\f1 \'ba\'ba\'d7\'d6} \u8364?\u-10179?\u-8704? x{\super 2} a\~b{\footnote\pard see there\par} \{end\}\par
\trowd\intbl a\cell b\cell\row\trowd\intbl 1\cell {\b 2}\cell\row\pard {\*\unknown gone}last\par}`;
  expect(await textOf("rtf", rtf)).toBe(
    [
      "# Head",
      "1.\tcafé 汉字 €😀 x^2 a\u00a0b {end}",
      "Note: see there",
      "| a | b |\n| --- | --- |\n| 1 | 2 |",
      "last",
      "Acme secret",
    ].join("\n\n"),
  );
});

test("RTF: cells of several paragraphs, nested tables and a row that is cut off keep all their words", async () => {
  const rtf = String.raw`{\rtf1\ansi \trowd\pard\intbl first\par second\cell b\cell\row
\trowd\pard\intbl c\par\pard\intbl\itap2 in 1\nestcell in 2\nestcell{\*\nesttableprops\trowd\nestrow}{\nonesttables\par}\pard\intbl\cell d\cell\row
\trowd\pard\intbl cut\cell off}`;
  expect(await textOf("rtf", rtf)).toBe("| first second | b |\n| --- | --- |\n| c in 1 in 2 | d |\n| cut | off |");
});

test("EML: sender and recipients in any encoding, the plain text alternative, and attachments", async () => {
  const mail = [
    "From: =?utf-8?q?J=C3=B6rg?= <a@x.test>\r\nTo: b@x.test\r\nSubject: =?iso-8859-1?B?TfxuemU=?=\r\n =?utf-8?q?_now?=\r\nReceived: x",
    'Content-Type: multipart/mixed; boundary="o"\r\n\r\nnot for people\r\n--o\r\nContent-Type: multipart/alternative; boundary=i\r\n',
    "--i\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nGr=C3=BC=\r\n=C3=9Fe\r\n",
    "--i\r\nContent-Type: text/html\r\n\r\n<p>marked up</p>\r\n--i--\r\n--o\r\nContent-Type: text/html\r\nContent-Transfer-Encoding: base64\r\n",
    `${btoa("<p>only <b>HTML</b></p>")}\r\n--o\r\nContent-Type: application/pdf\r\nContent-Disposition: attachment; filename*=utf-8''B%C3%BCro.pdf\r\n`,
    "JVBERi0=\r\n--o\r\nContent-Type: message/rfc822\r\n\r\nSubject: inner\r\n\r\nforwarded\r\n--o--\r\nafter",
  ];
  expect(await textOf("eml", mail.join("\r\n"))).toBe(
    [
      "# Münze now",
      "From: Jörg <a@x.test>\nTo: b@x.test",
      "Grüße",
      "only **HTML**",
      "## Attachment: Büro.pdf",
      "## inner",
      "forwarded",
    ].join("\n\n"),
  );
});

test.each<[string, string, string]>([
  [
    "an encoding whose bytes are ASCII",
    "Subject: =?ISO-2022-JP?B?GyRCMnE1RBsoQg==?=\nContent-Type: text/plain; charset=ISO-2022-JP\n\n\x1b$B$9$_\x1b(B",
    "# 会議\n\nすみ",
  ],
  [
    "an encoding whose bytes could be UTF-8",
    "Subject: =?gb2312?B?warNqA==?=\nContent-Type: text/plain; charset=gb2312\nContent-Transfer-Encoding: base64\n\nwarNqA==",
    "# 联通\n\n联通",
  ],
  [
    "the encoding of HTML",
    "Subject: x\nContent-Type: text/html; charset=windows-1251\nContent-Transfer-Encoding: base64\n\nPHA+yuv+9zwvcD4=",
    "# x\n\nКлюч",
  ],
  [
    "headers in the encoding of the text",
    "Subject: \xb2\xd6\xbf\xe2\nContent-Type: text/plain; charset=gb2312\n\n\xd4\xbf\xb3\xd7",
    "# 仓库\n\n钥匙",
  ],
  ["headers without an encoding", "Subject: Gr\xfc\xdfe\n\nSch\xf6n", "# Grüße\n\nSchön"],
  ["a mark before the first header", "\xef\xbb\xbfSubject: Keys\n\nText", "# Keys\n\nText"],
  ["a character in two encoded words", "Subject: =?utf-8?Q?B=C3?= =?utf-8?Q?=BCro?=\n\nText", "# Büro\n\nText"],
  [
    "a name in another encoding",
    "Subject: x\nContent-Disposition: attachment; filename*=iso-8859-1''B%FCro%20Liste.pdf\nContent-Type: application/pdf\n\nx",
    "# x\n\n## Attachment: Büro Liste.pdf",
  ],
  [
    "a part without headers",
    "Subject: x\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nOne\n\nTwo\n--b--",
    "# x\n\nOne\n\nTwo",
  ],
  [
    "a boundary that begins another",
    "Subject: x\nContent-Type: multipart/mixed; boundary=o\n\n--o\nContent-Type: multipart/mixed; boundary=o-i\n\n--o-i\n\nOne\n--o-i\n\nTwo\n--o-i--\n--o\n\nThree\n--o--",
    "# x\n\nOne\n\nTwo\n\nThree",
  ],
])("EML: %s", async (_, mail, text) => {
  expect(await textOf("eml", new Uint8Array(Buffer.from(mail, "latin1")))).toBe(text);
});
