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
