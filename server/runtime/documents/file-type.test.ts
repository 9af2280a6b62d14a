import { expect, test } from "bun:test";
import { isDocument, typeOfFile } from "./file-type.ts";

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
  ["a.py", "caf\xe9!", "application/octet-stream"],
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

test("documents are the searchable types", () => {
  expect(["application/pdf", "text/csv", "image/png", "application/zip", "application/rtf"].map(isDocument)).toEqual([
    true,
    true,
    false,
    false,
    true,
  ]);
});
