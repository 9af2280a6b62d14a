import { formatOf } from "../../runtime/documents/formats.ts";
import { markedEncoding, wideEncodingOf } from "../../runtime/documents/wide-encoding.ts";
import { textTypeOf } from "./text-types.ts";

/** Number of leading bytes that {@link typeOfFile} examines. */
export const headBytes = 4096;

const office = {
  docx: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  pptx: "application/vnd.openxmlformats-officedocument.presentationml.presentation",
  odt: "application/vnd.oasis.opendocument.text",
  ods: "application/vnd.oasis.opendocument.spreadsheet",
  odp: "application/vnd.oasis.opendocument.presentation",
  epub: "application/epub+zip",
} as const;
/** Formats in the container of Office before 2007. Only Outlook's are read as text. */
const old = {
  doc: "application/msword",
  xls: "application/vnd.ms-excel",
  ppt: "application/vnd.ms-powerpoint",
  msg: "application/vnd.ms-outlook",
} as const;
const pdf = "application/pdf";
const container = "application/x-ole-storage";

const signatures: [bytes: string, type: string][] = [
  ["%PDF-", pdf],
  ["\x89PNG\r\n\x1a\n", "image/png"],
  ["\xff\xd8\xff", "image/jpeg"],
  ["GIF87a", "image/gif"],
  ["GIF89a", "image/gif"],
  ["PK\x03\x04", "application/zip"],
  ["\xd0\xcf\x11\xe0", container],
  ["\x1f\x8b", "application/gzip"],
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
 * Detects a file's media type from its content. The name only decides between formats that look alike. `isText`: the
 * upload names the encoding of its text.
 */
export function typeOfFile(name: string, head: Uint8Array, isText = false): string {
  const extension = /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? "";
  const start = head.subarray(0, headBytes);
  const text = Buffer.from(start.buffer, start.byteOffset, start.length).toString("latin1");
  const [, type] = signatures.find(([bytes]) => text.startsWith(bytes)) ?? [];
  // Office puts encrypted files into its pre-2007 container; the document reader reports those.
  const isOffice = type === "application/zip" || type === container;
  if (isOffice && Object.hasOwn(office, extension)) return office[extension as "docx"];
  if (type === container && Object.hasOwn(old, extension)) return old[extension as "doc"];
  // OpenDocument and EPUB name their type in the first entry.
  const [, said] = /^PK.{28}mimetype(application\/[\w.+-]{1,80}?)PK/s.exec(text) ?? [];
  if (said && isDocument(said)) return said;
  if (type) return type;
  // RTF is plain text, so check it before the text types.
  if (/^(\xef\xbb\xbf)?\s*\{\\rtf/.test(text)) return "application/rtf";
  if (/^RIFF.{4}WEBP/s.test(text)) return "image/webp";
  if (/^RIFF.{4}WAVE/s.test(text)) return "audio/wav";
  // MPEG audio without a tag: a frame of layer III.
  if (/^\xff[\xf2\xf3\xfa\xfb][^\xff]/s.test(text)) return "audio/mpeg";
  const [, brand] = /^[\s\S]{4}ftyp([\s\S]{4})/.exec(text) ?? [];
  if (brand !== undefined) return brands.find(([pattern]) => pattern.test(brand))?.[1] ?? "video/mp4";
  // PDF readers allow bytes before the header.
  if (extension === "pdf" && text.slice(0, 1024).includes("%PDF-")) return pdf;
  const known = textTypeOf(extension);
  if (isUtf8(start)) return known ?? "text/plain";
  // The document reader detects the encoding; every other consumer expects UTF-8.
  if (known !== null && isDocument(known) && (isText || isOtherText(start))) return known;
  return "application/octet-stream";
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
