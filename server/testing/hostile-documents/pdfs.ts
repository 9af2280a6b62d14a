import { pdfFrom, pdfOf, streamOf } from "../documents.ts";
import { type HostileDocument, hostile, megabyte, utf8, validDocuments } from "./hostile-document.ts";
import { catalogue, flate, onePage, page } from "./pdf-parts.ts";

export const portable: HostileDocument[] = [
  hostile(
    "pdf",
    "a page tree that is its own branch",
    () => pdfFrom([catalogue, "<< /Type /Pages /Count 1 /Kids [2 0 R] >>"]),
    "document_unreadable",
    "document_empty",
  ),
  hostile(
    "pdf",
    "two branches that hold one another",
    () =>
      pdfFrom([
        catalogue,
        "<< /Type /Pages /Count 2 /Kids [3 0 R] >>",
        "<< /Type /Pages /Count 2 /Parent 2 0 R /Kids [2 0 R] >>",
      ]),
    "document_unreadable",
    "document_empty",
  ),
  hostile(
    "pdf",
    "a billion pages claimed",
    () => pdfFrom([catalogue, "<< /Type /Pages /Count 1000000000 /Kids [3 0 R] >>", page("4 0 R"), streamOf("")]),
    "document_too_large",
    "document_empty",
    "document_unreadable",
  ),
  hostile(
    "pdf",
    "a page of 800 MB",
    () => pdfFrom([catalogue, onePage, page(`[${"4 0 R ".repeat(20)}]`), flate("q Q ".repeat(10 * megabyte))]),
    "document_out_of_memory",
    "document_too_large",
    "document_empty",
    "document_timeout",
  ),
  hostile(
    "pdf",
    "a page packed three times",
    () => pdfFrom([catalogue, onePage, page("4 0 R"), flate("q Q ".repeat(10 * megabyte), 3)]),
    "document_out_of_memory",
    "document_too_large",
    "document_empty",
    "document_unreadable",
    "document_timeout",
  ),
  hostile(
    "pdf",
    "a form that shows itself",
    () =>
      pdfFrom([
        catalogue,
        onePage,
        page("4 0 R", "/Resources << /XObject << /F 5 0 R >> >> "),
        streamOf("/F Do"),
        streamOf(
          "/F Do /F Do",
          "/Type /XObject /Subtype /Form /BBox [0 0 1 1] /Resources << /XObject << /F 5 0 R >> >> ",
        ),
      ]),
    "document_empty",
    "document_unreadable",
    "document_timeout",
  ),
  hostile(
    "pdf",
    "an action in JavaScript",
    () =>
      pdfFrom([
        "<< /Type /Catalog /Pages 2 0 R /OpenAction << /S /JavaScript /JS (while (true) {}) >> >>",
        onePage,
        page("4 0 R"),
        streamOf(""),
      ]),
    "document_empty",
  ),
  hostile(
    "pdf",
    "a stream in objects that is in itself",
    () =>
      pdfFrom([catalogue, onePage, page("4 0 R"), streamOf("4 0 3 10", "/Type /ObjStm /N 2 /First 8 /Extends 4 0 R ")]),
    "document_empty",
    "document_unreadable",
  ),
  hostile(
    "pdf",
    "a table of a billion objects",
    () =>
      utf8(
        "%PDF-1.7\nxref\n0 1000000000\n0000000000 65535 f \ntrailer\n<< /Size 1000000000 /Root 1 0 R >>\nstartxref\n9\n%%EOF",
      ),
    "document_unreadable",
    "document_empty",
  ),
  hostile(
    "pdf",
    "a table that goes on before itself",
    () => utf8("%PDF-1.7\nxref\n0 0\ntrailer\n<< /Size 1 /Root 1 0 R /Prev 9 >>\nstartxref\n9\n%%EOF"),
    "document_unreadable",
    "document_empty",
  ),
  hostile(
    "pdf",
    "a million brackets",
    () => pdfFrom([catalogue, onePage, page("4 0 R"), streamOf("[".repeat(1_000_000))]),
    "document_empty",
    "document_unreadable",
  ),
  hostile(
    "pdf",
    "dictionaries in one another",
    () => pdfFrom([`<< /Type /Catalog /Pages 2 0 R /A ${"<< /A ".repeat(100_000)}`, onePage]),
    "document_unreadable",
    "document_empty",
  ),
  hostile(
    "pdf",
    "a password",
    () =>
      pdfFrom(
        [catalogue, onePage, page("4 0 R"), streamOf("")],
        `/ID [<00112233445566778899aabbccddeeff> <00112233445566778899aabbccddeeff>] /Encrypt << /Filter /Standard /V 1 /R 2 /O <${"41".repeat(32)}> /U <${"42".repeat(32)}> /P -44 >> `,
      ),
    "document_encrypted",
  ),
  hostile(
    "pdf",
    "a certificate in place of a password",
    () =>
      pdfFrom(
        [catalogue, onePage, page("4 0 R"), streamOf("")],
        `/ID [<00112233445566778899aabbccddeeff> <00112233445566778899aabbccddeeff>] /Encrypt << /Filter /Adobe.PubSec /V 4 /SubFilter /adbe.pkcs7.s5 >> `,
      ),
    "document_encrypted",
  ),
  hostile(
    "pdf",
    "a paragraph of words that are all cut",
    () => pdfOf([Array.from({ length: 30_000 }, (_, at) => `w${at}a cut-`).join("\n")]),
    "text",
    "document_too_large",
  ),
  hostile("pdf", "a page of HTML", () => validDocuments.html, "document_unreadable"),
];
