import { expect, test } from "bun:test";
import { isDocument, typeOfFile } from "./file-type.ts";

const octets = "application/octet-stream";

test.each([
  ["a.pdf", "%PDF-1.7\n", "application/pdf"],
  ["a.txt", "%PDF-1.7\n", "application/pdf"],
  ["a.pdf", "hello", "text/plain"],
  ["a.pdf", "\x00\x01", "application/octet-stream"],
  ["a.md", "# Title", "text/markdown"],
  ["A.CSV", "a,b", "text/csv"],
  ["a.jsonl", "{}", "application/jsonl"],
  ["a.docx", "PK\x03\x04", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"],
  ["a.zip", "PK\x03\x04", "application/zip"],
  ["a.txt", "PK\x03\x04", "application/zip"],
  ["a.docx", "hello", "text/plain"],
  ["a.png", "\x89PNG\r\n\x1a\n", "image/png"],
  ["a.webp", "RIFF1234WEBPVP8 ", "image/webp"],
  ["a.txt", "\xff\xfeh\x00", "text/plain"],
  ["a.csv", "caf\xe9;1\r\n", "text/csv"],
  ["a.html", "<p>\xfcber</p>", "text/html"],
  ["a.py", "caf\xe9!", "text/x-python"],
  ["a.conf", "caf\xe9!", "text/plain"],
  ["a.csv", "\xd0\xd5,\xc3\xfb\r\n\x1a", "text/csv"],
  ["a.csv", "n\x00,\x001\x00\n\x00", "text/csv"],
  ["a.txt", "\x00n\x00o\x00\n", "text/plain"],
  ["a.txt", "\x00\x00\x00n\x00\x00\x00o", "text/plain"],
  ["a", "n\x00,\x001\x00\n\x00", "application/octet-stream"],
  ["a.txt", "n\x00\x01\x002\x00\x05\x00", "application/octet-stream"],
  ["a", "caf\xe9!", "application/octet-stream"],
  ["a.txt", "caf\xe9\x01", "application/octet-stream"],
  ["a.pdf", "\r\n%PDF-1.7\n", "application/pdf"],
  ["a.docx", "\xd0\xcf\x11\xe0", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"],
  ["a.doc", "\xd0\xcf\x11\xe0", "application/msword"],
  ["a.constructor", "hello", "text/plain"],
  ["a.rtf", "{\\rtf1\\ansi Hello}", "application/rtf"],
  ["a.txt", "\xef\xbb\xbf\r\n{\\rtf1\\ansi Hello}", "application/rtf"],
  ["a.md", "See {\\rtf1}", "text/markdown"],
  ["a.rtf", "No markup", "text/plain"],
  ["a.odt", "PK\x03\x04", "application/vnd.oasis.opendocument.text"],
  ["a.zip", `PK${"\x03".repeat(28)}mimetypeapplication/epub+zipPK\x03\x04`, "application/epub+zip"],
  ["a.msg", "\xd0\xcf\x11\xe0", "application/vnd.ms-outlook"],
  ["a.eml", "Subject: x\n\ny", "message/rfc822"],
  ["none", "", "text/plain"],
])("%s that begins with %j is %s", (name, head, type) => {
  expect(typeOfFile(name, Buffer.from(head, "latin1"))).toBe(type);
});

/** The head of an entry of a ZIP archive. */
const entry = (name: string) => `PK\x03\x04${"\x00".repeat(26)}${name}`;
const officeXml = "application/vnd.openxmlformats-officedocument";
const web = "<html><head></head><body>x</body></html>";
const mime = 'MIME-Version: 1.0\r\nContent-Type: multipart/related;\r\n\tboundary="b"\r\n\r\n--b';

test.each([
  // Formats of Office in archives, with macros and as templates.
  ["a.docm", entry("[Content_Types].xml"), "application/vnd.ms-word.document.macroEnabled.12"],
  ["a.dotx", entry("[Content_Types].xml"), `${officeXml}.wordprocessingml.template`],
  ["a.dotm", entry("word/document.xml"), "application/vnd.ms-word.template.macroEnabled.12"],
  ["a.xlsm", entry("xl/workbook.xml"), "application/vnd.ms-excel.sheet.macroEnabled.12"],
  ["a.xltx", entry("xl/workbook.xml"), `${officeXml}.spreadsheetml.template`],
  ["a.xltm", entry("xl/workbook.xml"), "application/vnd.ms-excel.template.macroEnabled.12"],
  ["a.pptm", entry("ppt/presentation.xml"), "application/vnd.ms-powerpoint.presentation.macroEnabled.12"],
  ["a.ppsx", entry("ppt/presentation.xml"), `${officeXml}.presentationml.slideshow`],
  ["a.ppsm", entry("ppt/presentation.xml"), "application/vnd.ms-powerpoint.slideshow.macroEnabled.12"],
  ["a.potx", entry("ppt/presentation.xml"), `${officeXml}.presentationml.template`],
  // An archive under the name of an older format, of another one, or of none.
  ["a.doc", entry("[Content_Types].xml"), `${officeXml}.wordprocessingml.document`],
  ["a.xls", entry("[Content_Types].xml"), `${officeXml}.spreadsheetml.sheet`],
  ["a.ppt", entry("[Content_Types].xml"), `${officeXml}.presentationml.presentation`],
  ["a.docx", entry("xl/workbook.xml"), `${officeXml}.spreadsheetml.sheet`],
  ["upload", entry("word\\document.xml"), `${officeXml}.wordprocessingml.document`],
  [
    "a.docx",
    `${entry("mimetypeapplication/vnd.oasis.opendocument.text")}PK`,
    "application/vnd.oasis.opendocument.text",
  ],
  ["a.xlsx", `#!/bin/sh\n${entry("xl/workbook.xml")}`, `${officeXml}.spreadsheetml.sheet`],
  ["a.pages", entry("Index/Document.iwa"), "application/vnd.apple.pages"],
  // Excel before 5.0 has no container.
  ["a.xls", "\x09\x02\x06\x00\x00\x00", "application/vnd.ms-excel"],
])("%s that begins with %j is %s", (name, head, type) => {
  expect(typeOfFile(name, Buffer.from(head, "latin1"))).toBe(type);
});

const bookXml =
  '<?xml version="1.0"?><?mso-application progid="Excel.Sheet"?><Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet">';

test.each([
  ["a.doc", web, "text/html"],
  ["a.xls", "\ufeff<!DOCTYPE html><table>", "text/html"],
  ["a.xls", "  <table border=1><tr>", "text/html"],
  ["a.xlsx", "<style>td{}</style><table>", "text/html"],
  ["a.xls", '<?xml version="1.0"?>\n<!-- x --><html xmlns="http://www.w3.org/1999/xhtml">', "text/html"],
  ["a.pdf", "<!doctype html><title>404", "text/html"],
  ["a.txt", web, "text/html"],
  ["a.doc", mime, "multipart/related"],
  ["a.mht", `From: <Saved by Blink>\n${mime}`, "multipart/related"],
  ["a.html", mime, "multipart/related"],
  ["a.doc", "Date: x\nMIME-Version: 1.0\nContent-Type: text/html\n\n<p>", "message/rfc822"],
  ["a.eml", mime, "message/rfc822"],
  ["a.mht", web, "text/html"],
  ["a.doc", "{\\rtf1 x}", "application/rtf"],
  ["a.xls", "name\tprice\noar\t1\n", "text/tab-separated-values"],
  ["a.xlsx", "name;price\noar;1\n", "text/csv"],
  ["a.xls", 'ID;PWXL;N;E\r\nP;PGeneral\r\nC;Y1;X1;K"name"', "application/x-sylk"],
  ["a.csv", "ID;Preis\n1;2\n", "text/csv"],
  ["a.xls", 'TABLE\r\n0,1\r\n"x"', "application/x-dif"],
  ["a.xls", '<?xml version="1.0"?><rows><row>1</row></rows>', "application/xml"],
  ["a.xls", "Only a note.", "text/plain"],
  ["a.doc", "Only, a note.\nOf two, lines.", "text/plain"],
  ["a.xls", bookXml, "application/vnd.ms-spreadsheetml"],
  ["a.xml", bookXml, "application/vnd.ms-spreadsheetml"],
  [
    "a.doc",
    '<?xml version="1.0"?><w:wordDocument xmlns:w="http://schemas.microsoft.com/office/word/2003/wordml">',
    "application/vnd.ms-wordml",
  ],
  [
    "a.xml",
    '<pkg:package xmlns:pkg="http://schemas.microsoft.com/office/2006/xmlPackage">',
    "application/vnd.ms-word2006ml",
  ],
  [
    "a.fodt",
    '<office:document office:mimetype="application/vnd.oasis.opendocument.text">',
    "application/vnd.oasis.opendocument.text-flat-xml",
  ],
  [
    "a.fods",
    '<office:document office:mimetype="application/vnd.oasis.opendocument.spreadsheet">',
    "application/vnd.oasis.opendocument.spreadsheet-flat-xml",
  ],
  // Text that only looks like another format stays what its name says.
  ["a.md", "<p align=center>Logo</p>\n# Title", "text/markdown"],
  ["a.xml", "<html><body/></html>", "application/xml"],
  ["a.xml", "<workbook/>", "application/xml"],
  ["a.js", web, "text/javascript"],
  ["a.csv", "a,<html>\n1,2", "text/csv"],
  ["a.txt", "Note: all is well\nUntil: now", "text/plain"],
])("text named %s that begins with %j is read as %s, by its content", (name, text, type) => {
  expect(typeOfFile(name, Buffer.from(text))).toBe(type);
});

test("text of Excel in UTF-16, and in Windows-1252, is a table under the name of a workbook", () => {
  expect(typeOfFile("a.xls", Buffer.from("\ufeffname\tprice\n", "utf16le"))).toBe("text/tab-separated-values");
  expect(typeOfFile("a.xls", Buffer.from("caf\xe9\tprix\n", "latin1"))).toBe("text/tab-separated-values");
  expect(typeOfFile("a.xls", Buffer.from("\ufeff<html><table>", "utf16le"))).toBe("text/html");
});

test("text whose last character is split at the end of the inspected bytes is text", () => {
  expect(typeOfFile("a.txt", Buffer.from(`x${"é".repeat(3000)}`))).toBe("text/plain");
});

test("text whose encoding the upload names is of the type of its name", () => {
  const head = Buffer.from("\x06\x90\xd5\x4e", "latin1");
  expect(typeOfFile("a.txt", head, true)).toBe("text/plain");
  expect([typeOfFile("a.txt", head), typeOfFile("a.bin", head, true)]).toEqual([octets, octets]);
  expect(typeOfFile("a.csv", Buffer.from("%PDF-1.7"), true)).toBe("application/pdf");
});

test.each(
  "js mjs ts tsx jsx py css yaml yml toml ini xml sql sh go rs java c h cpp cs rb php tex rst srt vtt ics vcf log env dockerfile svg kt swift scala lua pl r conf properties diff tf proto vue scss bat ps1 ipynb json5".split(
    " ",
  ),
)("the text of a file of code, settings or notes can be searched: .%s", (extension) => {
  expect(isDocument(typeOfFile(`a.${extension}`, Buffer.from("lighthouse = 4711")))).toBe(true);
  expect(isDocument(typeOfFile(`a.${extension}`, Buffer.from("caf\xe9 = 4711", "latin1")))).toBe(true);
});

test("documents are the searchable types", () => {
  expect(["application/pdf", "text/csv", "image/png", "application/zip", "application/rtf"].map(isDocument)).toEqual([
    true,
    true,
    false,
    false,
    true,
  ]);
});

test("markup behind very many comments is recognized, and its absence too, without reading them again and again", () => {
  const comments = "<!-- a -->\n".repeat(300);
  expect(typeOfFile("a.doc", Buffer.from(`${comments}x`))).toBe("text/plain");
  expect(typeOfFile("a.txt", Buffer.from(`${comments}<!DOCTYPE html>`))).toBe("text/html");
  expect(typeOfFile("a.xls", Buffer.from(`${comments}<table>`))).toBe("text/html");
});
