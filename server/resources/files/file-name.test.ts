import { expect, test } from "bun:test";
import fc from "fast-check";
import { attachmentHeader, fitFileName } from "./file-name.ts";

test.each([
  ["report.pdf", "report.pdf"],
  ["../../etc/passwd", "passwd"],
  ["C:\\Users\\me\\naïve café.txt", "naïve café.txt"],
  ["a\0b\r\nc\u2028.txt", "abc.txt"],
  ["invoice\u202efdp.exe", "invoicefdp.exe"],
  ["a\ud800b", "a\ufffdb"],
  ["..", "file"],
  ["", "file"],
  ["dir/", "file"],
  ["\u0007", "file"],
  ["👩‍👩‍👧.png", "👩‍👩‍👧.png"],
  [".env", ".env"],
])("%j is shown as %j", (name, shown) => {
  expect(fitFileName(name)).toBe(shown);
});

test("a long name keeps its end, and no character is split", () => {
  const shown = fitFileName(`${"é".repeat(300)}.docx`);
  expect([shown.endsWith("é.docx"), Buffer.byteLength(shown)]).toEqual([true, 255]);
  expect(Buffer.byteLength(fitFileName("€".repeat(300)))).toBe(255);
});

test("any name is shown within the limit, and its header is valid", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 400 }), (name) => {
      const shown = fitFileName(name);
      expect(Buffer.byteLength(shown)).toBeWithin(1, 256);
      expect(shown).not.toMatch(/[\p{Cc}/\\]/u);
      const header = attachmentHeader(shown);
      expect(header).toMatch(/^attachment; filename="[\x20-\x7e]*"; filename\*=UTF-8''[\w.!#$&+^`|~%-]*$/);
      expect(new Headers({ "content-disposition": header }).get("content-disposition")).toBe(header);
    }),
  );
});
