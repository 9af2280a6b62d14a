const office = "application/vnd.openxmlformats-officedocument";

const formats = {
  "text/plain": "text",
  "text/markdown": "markdown",
  "text/x-markdown": "markdown",
  "text/html": "html",
  "application/xhtml+xml": "html",
  "application/json": "json",
  "application/jsonl": "jsonl",
  "application/x-jsonlines": "jsonl",
  "application/x-ndjson": "jsonl",
  "text/csv": "csv",
  "application/csv": "csv",
  "text/tab-separated-values": "csv",
  "application/rtf": "rtf",
  "text/rtf": "rtf",
  "message/rfc822": "eml",
  "application/vnd.ms-outlook": "msg",
  "multipart/related": "mht",
  "application/pkcs7-mime": "smime",
  "application/x-pkcs7-mime": "smime",
  "application/ms-tnef": "tnef",
  "application/vnd.ms-tnef": "tnef",
  "application/epub+zip": "epub",
  "application/vnd.oasis.opendocument.text": "odf",
  "application/vnd.oasis.opendocument.spreadsheet": "odf",
  "application/vnd.oasis.opendocument.presentation": "odf",
  "application/pdf": "pdf",
  "image/png": "image",
  "image/jpeg": "image",
  "image/webp": "image",
  "image/gif": "image",
  [`${office}.wordprocessingml.document`]: "docx",
  [`${office}.spreadsheetml.sheet`]: "xlsx",
  [`${office}.presentationml.presentation`]: "pptx",
} as const;

export type DocumentFormat = (typeof formats)[keyof typeof formats];

/** Returns the format of this MIME type, or null if its files have no readable text. */
export function formatOf(mimeType: string): DocumentFormat | null {
  const name = (mimeType.split(";")[0] ?? "").trim().toLowerCase();
  return Object.hasOwn(formats, name) ? formats[name as keyof typeof formats] : null;
}
