import { ownValue } from "../../lib/collections.ts";
import { isFragment, isXml, typeOfExchange, typeOfMarkup, typeOfMime, typeOfTable } from "./disguised-types.ts";
import { formatOf } from "./formats.ts";
import { textTypeOf } from "./text-types.ts";
import { markedEncoding, wideEncodingOf } from "./wide-encoding.ts";

/** Number of leading bytes that {@link typeOfFile} examines. */
export const headBytes = 4096;

const openXml = "application/vnd.openxmlformats-officedocument";
const openDocument = "application/vnd.oasis.opendocument";
/** Documents in ZIP archives, by extension. */
const packages = {
  docx: `${openXml}.wordprocessingml.document`,
  dotx: `${openXml}.wordprocessingml.template`,
  docm: "application/vnd.ms-word.document.macroEnabled.12",
  dotm: "application/vnd.ms-word.template.macroEnabled.12",
  xlsx: `${openXml}.spreadsheetml.sheet`,
  xltx: `${openXml}.spreadsheetml.template`,
  xlsm: "application/vnd.ms-excel.sheet.macroEnabled.12",
  xltm: "application/vnd.ms-excel.template.macroEnabled.12",
  xlam: "application/vnd.ms-excel.addin.macroEnabled.12",
  xlsb: "application/vnd.ms-excel.sheet.binary.macroEnabled.12",
  pptx: `${openXml}.presentationml.presentation`,
  potx: `${openXml}.presentationml.template`,
  ppsx: `${openXml}.presentationml.slideshow`,
  pptm: "application/vnd.ms-powerpoint.presentation.macroEnabled.12",
  potm: "application/vnd.ms-powerpoint.template.macroEnabled.12",
  ppsm: "application/vnd.ms-powerpoint.slideshow.macroEnabled.12",
  odt: `${openDocument}.text`,
  ott: `${openDocument}.text-template`,
  odm: `${openDocument}.text-master`,
  ods: `${openDocument}.spreadsheet`,
  ots: `${openDocument}.spreadsheet-template`,
  odp: `${openDocument}.presentation`,
  otp: `${openDocument}.presentation-template`,
  odg: `${openDocument}.graphics`,
  otg: `${openDocument}.graphics-template`,
  epub: "application/epub+zip",
  pages: "application/vnd.apple.pages",
  numbers: "application/vnd.apple.numbers",
  key: "application/vnd.apple.keynote",
} as const;
/** Folders of a package's parts, and the extension of the plain document that has them. */
const folders = { word: "docx", xl: "xlsx", ppt: "pptx" } as const;
/** Extensions of Office before 2007, and of the newer documents that are often named so. */
const successors: Record<string, string> = {
  doc: packages.docx,
  dot: packages.docx,
  rtf: packages.docx,
  xls: packages.xlsx,
  xlt: packages.xlsx,
  ppt: packages.pptx,
  pps: packages.pptx,
  pot: packages.pptx,
};
/** Formats in the container of Office before 2007. Only Outlook's are read as text. */
const old = {
  doc: "application/msword",
  dot: "application/msword",
  xls: "application/vnd.ms-excel",
  xlt: "application/vnd.ms-excel",
  ppt: "application/vnd.ms-powerpoint",
  pps: "application/vnd.ms-powerpoint",
  pot: "application/vnd.ms-powerpoint",
  msg: "application/vnd.ms-outlook",
} as const;
const zip = "application/zip";
const pdf = "application/pdf";
const container = "application/x-ole-storage";

const signatures: [bytes: string, type: string][] = [
  ["%PDF-", pdf],
  ["\x89PNG\r\n\x1a\n", "image/png"],
  ["\xff\xd8\xff", "image/jpeg"],
  ["GIF87a", "image/gif"],
  ["GIF89a", "image/gif"],
  ["PK\x03\x04", zip],
  // The mark of an archive in one piece that was made for several disks.
  ["PK00PK\x03\x04", zip],
  ["\xd0\xcf\x11\xe0", container],
  ["\x1f\x8b", "application/gzip"],
  // Excel before 5.0 and Word before 6.0, which have no container.
  ["\x09\x00\x04\x00", old.xls],
  ["\x09\x02\x06\x00", old.xls],
  ["\x09\x04\x06\x00", old.xls],
  ["\xdb\xa5", old.doc],
  ["II*\x00", "image/tiff"],
  ["MM\x00*", "image/tiff"],
  ["ID3", "audio/mpeg"],
  ["OggS", "audio/ogg"],
  ["fLaC", "audio/flac"],
  ["\x1aE\xdf\xa3", "video/webm"],
];

/** Brands of the ISO container, in which many formats come. */
const brands: [RegExp, string][] = [
  [/^(heic|heix|hevc|hevx|heim|heis|mif1|msf1)/, "image/heic"],
  [/^avi[fs]/, "image/avif"],
  [/^M4A /, "audio/mp4"],
  [/^qt {2}/, "video/quicktime"],
];

/** True if the file's text can be searched, including text in images. */
export const isSearchable = (type: string): boolean => formatOf(type) !== null;

/** True for a text document; an image is shown to the model instead. */
export const isDocument = (type: string): boolean => isSearchable(type) && formatOf(type) !== "image";

/**
 * Detects a file's media type from its content. The name only decides between formats that look alike, and between
 * documents in archives, which their reader looks into. `isText`: the upload names the encoding of its text.
 */
export function typeOfFile(name: string, head: Uint8Array, isText = false): string {
  const extension = /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? "";
  const start = head.subarray(0, headBytes);
  const text = Buffer.from(start.buffer, start.byteOffset, start.length).toString("latin1");
  const [, type] = signatures.find(([bytes]) => text.startsWith(bytes)) ?? [];
  // OpenDocument and EPUB name their type in the first entry.
  const [, said] = /^PK.{28}mimetype(application\/[\w.+-]{1,80}?)PK/s.exec(text) ?? [];
  if (said && isDocument(said)) return said;
  if (type === zip) return typeOfPackage(extension, text);
  // Office puts encrypted files into its pre-2007 container; the document reader reports those.
  if (type === container) return ownValue<string>(packages, extension) ?? ownValue<string>(old, extension) ?? container;
  if (type) return type;
  // RTF is plain text, so check it before the text types.
  if (/^(\xef\xbb\xbf)?\s*\{\\rtf/.test(text)) return "application/rtf";
  if (/^RIFF.{4}WEBP/s.test(text)) return "image/webp";
  if (/^RIFF.{4}WAVE/s.test(text)) return "audio/wav";
  // MPEG audio without a tag: a frame of layer III.
  if (/^\xff[\xf2\xf3\xfa\xfb][^\xff]/s.test(text)) return "audio/mpeg";
  const [, brand] = /^[\s\S]{4}ftyp([\s\S]{4})/.exec(text) ?? [];
  if (brand !== undefined) return brands.find(([pattern]) => pattern.test(brand))?.[1] ?? "video/mp4";
  // PDF readers allow bytes before the header, and readers of archives before the first entry.
  if (extension === "pdf" && text.slice(0, 1024).includes("%PDF-")) return pdf;
  if (Object.hasOwn(packages, extension) && text.includes("PK\x03\x04")) return typeOfPackage(extension, text);
  return typeOfText(extension, start, isText);
}

/** Returns the type of a ZIP archive by the entries that begin it, or by its name. */
function typeOfPackage(extension: string, text: string): string {
  const folder = /PK[^A-Za-z].{27}(word|xl|ppt)[/\\]/s.exec(text)?.[1] as keyof typeof folders | undefined;
  const named = ownValue<string>(packages, extension) ?? ownValue(successors, extension);
  if (folder === undefined) return named ?? zip;
  const found = packages[folders[folder]];
  return named !== undefined && familyOf(named) === familyOf(found) ? named : found;
}

/** Returns the word by which types of text documents, workbooks or presentations are known. */
function familyOf(type: string): string {
  if (/wordprocessingml|ms-word/.test(type)) return "word";
  if (/spreadsheetml|ms-excel/.test(type)) return "xl";
  return /presentationml|ms-powerpoint/.test(type) ? "ppt" : "";
}

/** Extensions of workbooks, under which programs export tables of text. */
const sheets = /^(?:xl[ast][bmx]?|xls|xlt|ods|ots|fods|numbers)$/;
/** Extensions whose text may be a document of another kind: markup, or a message. */
const guesses = new Set([
  "",
  "txt",
  "log",
  "csv",
  "tsv",
  "html",
  "htm",
  "xhtml",
  "xml",
  "eml",
  "mht",
  "mhtml",
  "pdf",
  "rtf",
  "slk",
  "dif",
]);

/** Returns the type of text by how it begins, or by its name. */
function typeOfText(extension: string, start: Uint8Array, isNamedText: boolean): string {
  const isDocumentName = isOfficeName(extension);
  const known = textTypeOf(extension);
  const [isUnicode, isText] = [isUtf8(start), isNamedText || isOtherText(start)];
  if (isUnicode || isText) {
    const text = decodeStart(start);
    const found = isDocumentName || guesses.has(extension) ? guessType(extension, text) : null;
    if (found !== null) return found;
    if (isDocumentName && isXml(text)) return "application/xml";
    if (isDocumentName) return sheets.test(extension) ? typeOfTable(text) : "text/plain";
  }
  if (isUnicode) return known ?? "text/plain";
  // The document reader detects the encoding; every other consumer expects UTF-8.
  return known !== null && isDocument(known) && isText ? known : "application/octet-stream";
}

const isOfficeName = (extension: string): boolean =>
  Object.hasOwn(packages, extension) || Object.hasOwn(old, extension) || /^fod[tspg]$/.test(extension);

/** Returns the type of markup or a message under a name that promises something else, or null. */
function guessType(extension: string, text: string): string | null {
  const markup = typeOfMarkup(text) ?? typeOfExchange(text);
  if (markup !== null) return extension === "xml" && markup === "text/html" ? null : markup;
  if (extension === "xml" || extension === "eml") return null;
  const isPage = isOfficeName(extension) || /^(?:mht|mhtml|pdf|rtf)$/.test(extension);
  return typeOfMime(text) ?? (isPage && isFragment(text) ? "text/html" : null);
}

/** Decodes the start as UTF-16 by its mark, else each byte as a character. */
function decodeStart(start: Uint8Array): string {
  if (start[0] === 0xff && start[1] === 0xfe) return new TextDecoder("utf-16le").decode(start);
  if (start[0] === 0xfe && start[1] === 0xff) return new TextDecoder("utf-16be").decode(start);
  return Buffer.from(start.buffer, start.byteOffset, start.length).toString("latin1");
}

function isUtf8(head: Uint8Array): boolean {
  if (head.includes(0)) return false;
  try {
    // Streaming mode, because the last character may be cut.
    new TextDecoder("utf-8", { fatal: true }).decode(head, { stream: true });
    return true;
  } catch {
    return false;
  }
}

/**
 * True for UTF-16 and UTF-32, and for an encoding without control characters other than white space, ESC and the end
 * mark of DOS.
 */
function isOtherText(head: Uint8Array): boolean {
  const mark = markedEncoding(head);
  if ((mark !== null && mark !== "utf-8") || wideEncodingOf(head) !== null) return true;
  return head.every((byte) => byte > 31 || (byte > 8 && byte < 14) || byte === 27 || byte === 26);
}
