/** Types of documents that are text, found by how they begin and not by their names. */
const xml = {
  word2003: "application/vnd.ms-wordml",
  word2006: "application/vnd.ms-word2006ml",
  sheet2003: "application/vnd.ms-spreadsheetml",
  html: "text/html",
} as const;

const flatOpenDocument =
  /\soffice:mimetype\s*=\s*["']application\/vnd\.oasis\.opendocument\.(text|spreadsheet|presentation|graphics)/;
/** The declaration, instructions, comments and document type before an element, each of limited length. */
const prolog = /^(?:\s+|<\?[^>]{0,500}\?>|<!--[\s\S]{0,2000}?-->|<!doctype[^>[]{0,500}>)+/i;
// Nothing may follow the repetition: the pattern would try all ways to split comments, which are endless for a hostile file.
const comments = /^(?:\s+|<!--[\s\S]{0,2000}?-->)+/;

/** Returns the type of a document in XML or HTML by its first element, or null. */
export function typeOfMarkup(start: string): string | null {
  const text = withoutMark(start);
  const isPage = /^<!doctype\s+html\b/i.test(text.replace(comments, ""));
  const first = /^<(?:[\w-]{1,20}:)?([\w-]{1,40})(?=[\s/>])/.exec(text.replace(prolog, ""))?.[1] ?? "";
  if (isPage || first.toLowerCase() === "html") return xml.html;
  if (first === "wordDocument") return xml.word2003;
  if (first === "Workbook" && text.includes("urn:schemas-microsoft-com:office:spreadsheet")) return xml.sheet2003;
  if (first === "package" && text.includes("/office/2006/xmlPackage")) return xml.word2006;
  const kind = first === "document" ? flatOpenDocument.exec(text)?.[1] : undefined;
  return kind === undefined ? null : `application/vnd.oasis.opendocument.${kind}-flat-xml`;
}

/** Returns the type of a workbook in one of the exchange formats of the eighties, or null. */
export function typeOfExchange(start: string): string | null {
  const text = withoutMark(start);
  if (/^ID;P[^\r\n]{0,40}\r?\n[A-Z]{1,2};[A-Z]/.test(text) && /\nC;[XYK]/.test(text)) return "application/x-sylk";
  return /^TABLE\r?\n0,1\r?\n/.test(text) ? "application/x-dif" : null;
}

/** True for a part of a web page without its `html` element, such as a table that a program exports. */
export const isFragment = (start: string): boolean =>
  /^<(?:table|head|body|meta|style|div|p|h[1-6]|center|font|title|b|br|span|script)(?=[\s/>])/i.test(
    withoutMark(start).replace(comments, ""),
  );

/** True for XML that says so. */
export const isXml = (start: string): boolean => /^\s*<\?xml\s/.test(withoutMark(start));

/** Returns the type of a message in MIME: a web archive, or an e-mail. Returns null if it has no MIME header. */
export function typeOfMime(start: string): string | null {
  const head = headerBlockOf(withoutMark(start));
  if (/^content-type:\s*multipart\/related\b/im.test(head)) return "multipart/related";
  return /^mime-version:/im.test(head) ? "message/rfc822" : null;
}

/** Returns the type of a text that a program exported under the name of a workbook. */
export function typeOfTable(start: string): string {
  const lines = withoutMark(start)
    .split(/\r?\n/)
    .filter((line) => line.trim() !== "");
  const [first = "", second = first] = lines;
  if (first.includes("\t")) return "text/tab-separated-values";
  const isTable = [",", ";", "|"].some((mark) => first.includes(mark) && second.includes(mark));
  return isTable || /^sep=/i.test(first) ? "text/csv" : "text/plain";
}

const withoutMark = (text: string): string => text.replace(/^(?:\xef\xbb\xbf|\ufeff)/, "");

/** Returns the header fields at the start of a text, or "" if it begins otherwise. */
function headerBlockOf(text: string): string {
  const block = text.trimStart().split(/\r?\n\r?\n/, 1)[0] ?? "";
  const lines = block.split(/\r?\n/);
  // The last line may be cut at the end of the inspected bytes.
  const isField = (line: string, at: number) =>
    /^(?:[!-9;-~]{1,80}:|[ \t])/.test(line) || (at > 0 && at === lines.length - 1);
  return lines.every(isField) ? block : "";
}
