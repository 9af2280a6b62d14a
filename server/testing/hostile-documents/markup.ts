import { zipOf } from "../documents.ts";
import { type HostileDocument, hostile, megabyte, utf8 } from "./hostile-document.ts";
import { documentOf, paragraph, workbookOf } from "./office-parts.ts";

export const entities = (name: string, system = "") => {
  const bombs = Array.from({ length: 10 }, (_, at) => `<!ENTITY e${at + 1} "${`&e${at};`.repeat(10)}">`);
  return `<!DOCTYPE ${name} [<!ENTITY e0 "lol">${bombs.join("")}<!ENTITY file SYSTEM "${system || "file:///etc/passwd"}">]>`;
};

export const markup: HostileDocument[] = [
  hostile("md", "a heading that is mostly space", () => utf8(`# a${" ".repeat(megabyte)}b`), "text"),
  hostile("md", "headings in a heading", () => utf8(`${"# ".repeat(200)}a\n\n# b`), "text"),
  hostile("txt", "a megabyte of space", () => utf8(`a${" ".repeat(megabyte)}b${" ".repeat(megabyte)}`), "text"),
  hostile("csv", "a cell that is mostly space", () => utf8(`a,b\n1${" ".repeat(megabyte)}2,3`), "text"),
  hostile("txt", "words of 399 letters", () => utf8(`${"漢".repeat(399)} `.repeat(2000)), "text"),
  hostile("html", "a megabyte of images without an end", () => utf8("![".repeat(megabyte / 2)), "text"),
  hostile("docx", "a billion laughs", () => documentOf(paragraph("&e9;"), entities("document")), "document_unreadable"),
  hostile(
    "docx",
    "an entity of a file",
    () => documentOf(paragraph("&file;"), entities("document")),
    "document_unreadable",
  ),
  hostile(
    "docx",
    "a document type from elsewhere",
    () => documentOf(paragraph("x"), `<!DOCTYPE a SYSTEM "http://127.0.0.1:9/a.dtd">`),
    "document_unreadable",
  ),
  hostile(
    "xlsx",
    "a billion laughs",
    () => workbookOf(`${entities("worksheet")}<worksheet>&e9;</worksheet>`),
    "document_unreadable",
  ),
  hostile(
    "pptx",
    "a billion laughs",
    () => zipOf({ "ppt/presentation.xml": `${entities("p")}<p>&e9;</p>` }),
    "document_unreadable",
  ),
  hostile(
    "docx",
    "a million elements in one another",
    () => documentOf("<w:p>".repeat(1_000_000)),
    "document_unreadable",
  ),
  hostile(
    "docx",
    "100,000 pages",
    () => documentOf(`<w:p><w:r>${"<w:lastRenderedPageBreak/>".repeat(100_000)}<w:t>x</w:t></w:r></w:p>`),
    "document_too_large",
  ),
  hostile(
    "docx",
    "a cell over a billion columns",
    () =>
      documentOf(
        `<w:tbl><w:tr>${`<w:tc><w:tcPr><w:gridSpan w:val="1000000000"/></w:tcPr>${paragraph("x")}</w:tc>`.repeat(100)}</w:tr></w:tbl>`,
      ),
    "text",
  ),
  hostile("docx", "a tag without an end", () => documentOf(`<w:p a="${"x".repeat(megabyte)}`), "document_unreadable"),
  hostile(
    "docx",
    "a million attributes",
    () => documentOf(`<w:p ${Array.from({ length: 1_000_000 }, (_, at) => `a${at}="b"`).join(" ")}/>${paragraph("x")}`),
    "text",
  ),
  hostile(
    "docx",
    "a million times the same attribute",
    () => documentOf(`<w:p ${'a="b" '.repeat(1_000_000)}/>${paragraph("x")}`),
    "document_unreadable",
  ),
  hostile(
    "docx",
    "elements named like parts of every object",
    () => documentOf(`<w:constructor/><w:__proto__/><w:toString/>${paragraph("x")}`),
    "text",
  ),
  hostile(
    "html",
    "200,000 elements in one another",
    () => utf8(`${"<div>".repeat(200_000)}text`),
    "text",
    "document_unreadable",
  ),
  hostile(
    "html",
    "20,000 lists in one another",
    () => utf8(`${"<ul><li>".repeat(20_000)}text`),
    "text",
    "document_unreadable",
  ),
  hostile("html", "a million signs that open a tag", () => utf8("<".repeat(megabyte)), "text", "document_empty"),
  hostile(
    "html",
    "a drawing with entities in it",
    () => utf8(`${entities("svg")}<svg><text>&e9;</text></svg><p>text</p>`),
    "text",
  ),
  hostile("html", "only script and style", () => utf8("<script>alert(1)</script><style>a{}</style>"), "document_empty"),
  hostile(
    "json",
    "100,000 lists in one another",
    () => utf8("[".repeat(100_000) + "]".repeat(100_000)),
    "document_unreadable",
  ),
  hostile("json", "keys of every object", () => utf8('{"__proto__":{"a":1},"constructor":2}'), "text"),
  hostile("json", "a lot of numbers", () => utf8(`[${"1,".repeat(300_000)}1]`), "text"),
  hostile("md", "a million marks of a quote", () => utf8(`${">".repeat(megabyte)} text`), "text"),
  hostile("md", "a fence that never closes", () => utf8(`\`\`\`\n${"code\n".repeat(100_000)}`), "text"),
  hostile("txt", "19 MB of one line", () => new Uint8Array(19 * megabyte).fill(97), "text"),
  hostile("txt", "100 MB of one line", () => new Uint8Array(100 * megabyte).fill(97), "document_too_large"),
  hostile("txt", "zeros", () => new Uint8Array(megabyte), "document_unreadable"),
  hostile("txt", "a few zeros in text", () => utf8(`text\0${"more text ".repeat(100)}\0`), "text"),
  hostile(
    "txt",
    "half of each character",
    () => new Uint8Array(Buffer.from("😀".repeat(1000), "utf16le").fill(0xd8, 1, 2)),
    "text",
    "document_unreadable",
  ),
];
