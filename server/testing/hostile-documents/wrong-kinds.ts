import {
  type HostileDocument,
  hostile,
  type Kind,
  mimeTypes,
  noise,
  utf8,
  validDocuments,
} from "./hostile-document.ts";

const binary = ["pdf", "docx", "xlsx", "pptx", "odt", "epub"] as const;
const kinds = Object.keys(mimeTypes) as Kind[];

const encryptedOffice = () =>
  Buffer.concat([
    Buffer.from("d0cf11e0a1b11ae1", "hex"),
    Buffer.alloc(504),
    Buffer.from("EncryptedPackage", "utf16le"),
  ]);

export const wrong: HostileDocument[] = [
  ...kinds.map((kind) => hostile(kind, "blank", () => utf8("  \n\n "), "document_empty", "document_unreadable")),
  ...kinds.map((kind) => hostile(kind, "noise", () => noise(20_000), "document_unreadable")),
  ...binary.map((kind) =>
    hostile(
      kind,
      "cut in half",
      () => validDocuments[kind].slice(0, validDocuments[kind].length / 2),
      "document_unreadable",
      "document_empty",
      "text",
    ),
  ),
  ...binary.slice(1).map((kind) => hostile(kind, "encrypted by Office", encryptedOffice, "document_encrypted")),
  ...binary.slice(1).map((kind) => hostile(kind, "a PDF", () => validDocuments.pdf, "document_unreadable")),
  ...(["txt", "md", "html", "json", "csv"] as const).map((kind) =>
    hostile(kind, "a text document", () => validDocuments.docx, "document_unreadable"),
  ),
];
