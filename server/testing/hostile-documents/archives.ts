import { docxBody, relationships, zipOf } from "../documents.ts";
import { type HostileDocument, hostile } from "./hostile-document.ts";
import { documentOf, largePart, lying, paragraph } from "./office-parts.ts";

export const archives: HostileDocument[] = [
  hostile("docx", "a part that unpacks to 210 MB", () => largePart("word/document.xml"), "document_too_large"),
  hostile(
    "docx",
    "one that says it unpacks to 1 byte",
    () => lying(largePart("word/document.xml"), 24, 1),
    "document_too_large",
  ),
  hostile(
    "docx",
    "one that says it unpacks to 4 GB",
    () => lying(documentOf(paragraph("x")), 24, 0xfffffff0),
    "document_too_large",
  ),
  hostile(
    "docx",
    "parts far out of the archive",
    () => lying(documentOf(paragraph("x")), 42, 0x7fffffff),
    "document_unreadable",
  ),
  hostile("docx", "encrypted entries", () => lying(documentOf(paragraph("x")), 8, 1, 2), "document_encrypted"),
  hostile(
    "docx",
    "a packing that nobody knows",
    () => lying(documentOf(paragraph("x")), 10, 99, 2),
    "document_unreadable",
  ),
  hostile(
    "docx",
    "20,001 entries",
    () => zipOf(Object.fromEntries(Array.from({ length: 20_001 }, (_, at) => [`f${at}`, ""]))),
    "document_too_large",
  ),
  hostile(
    "docx",
    "an archive in an archive in an archive",
    () => zipOf({ "word/document.xml": zipOf({ "word/document.xml": zipOf({ a: "b" }) }) }),
    "document_unreadable",
  ),
  hostile(
    "docx",
    "names that are paths",
    () => zipOf({ "../../etc/passwd": "x", "/etc/passwd": "y", "word/document.xml": docxBody(paragraph("x")) }),
    "text",
  ),
  hostile(
    "docx",
    "a relationship out of the archive",
    () =>
      zipOf({
        "word/document.xml": docxBody(paragraph("x")),
        "word/_rels/document.xml.rels": relationships([["r", "styles", "../../../../etc/passwd"]]),
      }),
    "text",
  ),
  hostile("docx", "no document in it", () => zipOf({ mimetype: "x" }), "document_unreadable"),
];
