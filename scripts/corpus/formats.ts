/**
 * Formats of the corpus, as the report groups them. `text` is text in many encodings; `old` is Office before 2007, which
 * is refused unless the name is wrong.
 */
export const formats = [
  "pdf",
  "docx",
  "xlsx",
  "pptx",
  "odf",
  "rtf",
  "mail",
  "msg",
  "html",
  "epub",
  "csv",
  "text",
  "old",
] as const;
export type Format = (typeof formats)[number];

const extensions: Record<string, Format> = {
  pdf: "pdf",
  docx: "docx",
  docm: "docx",
  dotx: "docx",
  dotm: "docx",
  xlsx: "xlsx",
  xlsm: "xlsx",
  xltx: "xlsx",
  xltm: "xlsx",
  pptx: "pptx",
  pptm: "pptx",
  ppsx: "pptx",
  ppsm: "pptx",
  potx: "pptx",
  odt: "odf",
  ott: "odf",
  ods: "odf",
  odp: "odf",
  rtf: "rtf",
  eml: "mail",
  msg: "msg",
  html: "html",
  htm: "html",
  xhtml: "html",
  epub: "epub",
  csv: "csv",
  tsv: "csv",
  doc: "old",
  xls: "old",
  ppt: "old",
};

/** Returns the format that the file's name says, or null. */
export const formatOfName = (name: string): Format | null =>
  extensions[/\.(\w+)$/.exec(name)?.[1]?.toLowerCase() ?? ""] ?? null;

/** Words that may be missing, as a part of all: none, but for PDF, whose words no file says where they end. */
export const goalOf = (format: Format): number => (format === "pdf" ? 0.001 : 0);
