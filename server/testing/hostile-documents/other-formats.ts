import { epubOf, odfOf, zipOf } from "../documents.ts";
import { messageOf } from "../outlook-message.ts";
import { type HostileDocument, hostile, megabyte, utf8 } from "./hostile-document.ts";
import { attached, circling, entriesWith, letter, mailWith, nested, packedFiles, withHeader } from "./mail-parts.ts";
import { entities } from "./markup.ts";
import { largePart } from "./office-parts.ts";

export const others: HostileDocument[] = [
  hostile("odt", "a part that unpacks to 210 MB", () => largePart("content.xml"), "document_too_large"),
  hostile(
    "odt",
    "a billion laughs",
    () => zipOf({ "content.xml": `${entities("office:document-content")}<a>&e9;</a>` }),
    "document_unreadable",
  ),
  hostile(
    "odt",
    "a cell a billion times, in a row a billion times",
    () =>
      odfOf(
        `<table:table><table:table-row table:number-rows-repeated="1000000000"><table:table-cell table:number-columns-repeated="1000000000"><text:p>x</text:p></table:table-cell></table:table-row></table:table>`,
      ),
    "text",
  ),
  hostile("odt", "a billion spaces", () => odfOf(`<text:p>a<text:s text:c="1000000000"/>b</text:p>`), "text"),
  hostile(
    "odt",
    "lists in one another",
    () => odfOf("<text:list><text:list-item>".repeat(1000)),
    "document_unreadable",
  ),
  hostile(
    "odt",
    "an object that is the document",
    () => odfOf(`<text:p>x<draw:object xlink:href="./."/><draw:object xlink:href="./../.."/></text:p>`),
    "text",
  ),
  hostile(
    "odt",
    "a megabyte in a cell that is repeated, in a row that is",
    () =>
      odfOf(
        `<table:table><table:table-row table:number-rows-repeated="1000"><table:table-cell table:number-columns-repeated="1000"><text:p>${"w ".repeat(megabyte / 2)}</text:p></table:table-cell></table:table-row></table:table>`,
      ),
    "document_too_large",
  ),
  hostile(
    "odt",
    "an encrypted part",
    () => odfOf("<text:p>x</text:p>", { "META-INF/manifest.xml": "<m><manifest:encryption-data/></m>" }),
    "document_encrypted",
  ),
  hostile("epub", "100,000 chapters that are one", () => epubOf(["<p>x</p>"], 100_000), "document_too_large"),
  hostile("epub", "no chapter", () => epubOf([]), "document_unreadable"),
  hostile(
    "epub",
    "an encrypted chapter",
    () => epubOf(["<p>x</p>"], 1, { "META-INF/encryption.xml": `<a><b URI="c0.xhtml"/></a>` }),
    "document_encrypted",
  ),
  hostile(
    "rtf",
    "a million groups in one another",
    () => utf8(`{\\rtf1${"{".repeat(megabyte)}`),
    "document_unreadable",
  ),
  hostile("rtf", "a million ends of groups", () => utf8(`{\\rtf1 text${"}".repeat(megabyte)}`), "text"),
  hostile("rtf", "a million ends of rows and cells", () => utf8(`{\\rtf1 x${"\\cell\\row".repeat(100_000)}}`), "text"),
  hostile(
    "rtf",
    "numbers without measure",
    () => utf8("{\\rtf1\\uc999999999\\u-999999999 \\f9999999999 text}"),
    "text",
  ),
  hostile("rtf", "half of a character in bytes", () => utf8("{\\rtf1\\ansicpg932 text\\'8a}"), "text"),
  hostile("rtf", "notes in one another", () => utf8(`{\\rtf1 x${"{\\footnote ".repeat(1500)}`), "text"),
  hostile(
    "eml",
    "parts in one another",
    () => utf8(`Subject: x\n${"Content-Type: multipart/mixed; boundary=b\n\n--b\n".repeat(10_000)}`),
    "document_unreadable",
    "text",
  ),
  hostile(
    "eml",
    "100,000 parts",
    () => utf8(`Content-Type: multipart/mixed; boundary=b\n\n${"--b\n\nx\n".repeat(100_000)}`),
    "document_unreadable",
  ),
  hostile(
    "eml",
    "spaces before the end of each line",
    () =>
      utf8(
        `Subject: x\nContent-Transfer-Encoding: quoted-printable\n\n${" ".repeat(megabyte)}=${" ".repeat(megabyte)}x`,
      ),
    "text",
  ),
  hostile("eml", "a header of a megabyte", () => utf8(`Subject: ${"=?utf-8?q?a?= ".repeat(80_000)}\n\nx`), "text"),
  hostile("eml", "encoded words without an end", () => utf8(`Subject: ${"=?utf-8?q?a ".repeat(80_000)}\n\nx`), "text"),
  hostile(
    "eml",
    "a signed message nested a thousand times",
    () =>
      utf8(
        `Subject: x\nContent-Type: application/pkcs7-mime\nContent-Transfer-Encoding: base64\n\n${Buffer.alloc(20_000, "\x30\x80", "latin1").toString("base64")}`,
      ),
    "text",
  ),
  hostile(
    "eml",
    "an attachment that unpacks to 210 MB, a hundred times",
    () => mailWith(Array<Uint8Array>(100).fill(largePart("word/document.xml")), "plan.docx"),
    "text",
  ),
  hostile("eml", "files of Outlook in one another", () => mailWith([packedFiles(50)], "winmail.dat"), "text"),
  hostile("msg", "a sector that is behind itself", () => circling((sector) => sector), "document_unreadable"),
  hostile("msg", "every sector is behind the first", () => circling(() => 1), "document_unreadable"),
  hostile("msg", "sectors that are not there", () => circling(() => 0xfffffff0), "document_unreadable"),
  hostile("msg", "tables that lead to one another", () => withHeader(68, 0), "document_unreadable"),
  hostile("msg", "a directory that is nowhere", () => withHeader(48, 4_000_000_000), "document_unreadable"),
  hostile("msg", "sectors of two gigabytes", () => withHeader(30, 31), "document_unreadable"),
  hostile("msg", "every text is the same one", () => entriesWith(116, 0), "document_unreadable", "text"),
  hostile("msg", "texts of four gigabytes", () => entriesWith(120, 0xffffffff), "document_unreadable", "text"),
  hostile("msg", "folders that hold themselves", () => entriesWith(76, 1), "document_unreadable"),
  hostile("msg", "files beside themselves", () => entriesWith(72, 1), "document_unreadable"),
  hostile("msg", "its end is missing", () => letter().slice(0, -700), "document_unreadable"),
  hostile("msg", "messages in one another", () => messageOf({ "0037": "x" }, nested(200)), "document_unreadable"),
  hostile("msg", "10,000 attachments", () => messageOf({ "0037": "x" }, attached(10_000)), "document_unreadable"),
];
