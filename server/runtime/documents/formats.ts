const office = "application/vnd.openxmlformats-officedocument";

/** Code and settings, whose lines are kept. */
const codeTypes = [
  "application/javascript",
  "application/sql",
  "application/toml",
  "application/typescript",
  "application/x-sh",
  "application/x-subrip",
  "application/x-yaml",
  "application/xml",
  "application/yaml",
  "image/svg+xml",
  "text/css",
  "text/javascript",
  "text/vtt",
  "text/x-c",
  "text/x-c++",
  "text/x-csharp",
  "text/x-golang",
  "text/x-java",
  "text/x-kotlin",
  "text/x-php",
  "text/x-python",
  "text/x-ruby",
  "text/x-rust",
  "text/x-scala",
  "text/x-swift",
  "text/x-tex",
  "text/xml",
  "text/yaml",
];

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
  "text/calendar": "calendar",
  "text/vcard": "calendar",
  "text/x-vcard": "calendar",
  "application/rtf": "rtf",
  "text/rtf": "rtf",
  "message/rfc822": "eml",
  "application/vnd.ms-outlook": "msg",
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

const codeFormats = new Set(codeTypes);

export type DocumentFormat = (typeof formats)[keyof typeof formats] | "code";

/** Returns the format of this MIME type, or null if its files have no readable text. */
export function formatOf(mimeType: string): DocumentFormat | null {
  const name = (mimeType.split(";")[0] ?? "").trim().toLowerCase();
  if (codeFormats.has(name)) return "code";
  return Object.hasOwn(formats, name) ? formats[name as keyof typeof formats] : null;
}
