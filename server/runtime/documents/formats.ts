const office = "application/vnd.openxmlformats-officedocument";
const openDocument = "application/vnd.oasis.opendocument";

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
  "application/epub+zip": "epub",
  "multipart/related": "mht",
  [`${openDocument}.text`]: "odf",
  [`${openDocument}.text-template`]: "odf",
  [`${openDocument}.text-master`]: "odf",
  [`${openDocument}.text-flat-xml`]: "odf",
  [`${openDocument}.spreadsheet`]: "odf",
  [`${openDocument}.spreadsheet-template`]: "odf",
  [`${openDocument}.spreadsheet-flat-xml`]: "odf",
  [`${openDocument}.presentation`]: "odf",
  [`${openDocument}.presentation-template`]: "odf",
  [`${openDocument}.presentation-flat-xml`]: "odf",
  [`${openDocument}.graphics`]: "odf",
  [`${openDocument}.graphics-template`]: "odf",
  [`${openDocument}.graphics-flat-xml`]: "odf",
  "application/pdf": "pdf",
  "image/png": "image",
  "image/jpeg": "image",
  "image/webp": "image",
  "image/gif": "image",
  [`${office}.wordprocessingml.document`]: "docx",
  [`${office}.wordprocessingml.template`]: "docx",
  "application/vnd.ms-word.document.macroenabled.12": "docx",
  "application/vnd.ms-word.template.macroenabled.12": "docx",
  "application/vnd.ms-word2006ml": "docx",
  "application/vnd.ms-wordml": "wordml",
  [`${office}.spreadsheetml.sheet`]: "xlsx",
  [`${office}.spreadsheetml.template`]: "xlsx",
  "application/vnd.ms-excel.sheet.macroenabled.12": "xlsx",
  "application/vnd.ms-excel.template.macroenabled.12": "xlsx",
  "application/vnd.ms-excel.addin.macroenabled.12": "xlsx",
  "application/vnd.ms-spreadsheetml": "spreadsheetml",
  [`${office}.presentationml.presentation`]: "pptx",
  [`${office}.presentationml.template`]: "pptx",
  [`${office}.presentationml.slideshow`]: "pptx",
  "application/vnd.ms-powerpoint.presentation.macroenabled.12": "pptx",
  "application/vnd.ms-powerpoint.template.macroenabled.12": "pptx",
  "application/vnd.ms-powerpoint.slideshow.macroenabled.12": "pptx",
} as const;

export type DocumentFormat = (typeof formats)[keyof typeof formats];

/** Returns the format of this MIME type, or null if its files have no readable text. */
export function formatOf(mimeType: string): DocumentFormat | null {
  const name = (mimeType.split(";")[0] ?? "").trim().toLowerCase();
  return Object.hasOwn(formats, name) ? formats[name as keyof typeof formats] : null;
}
