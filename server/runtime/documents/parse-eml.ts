import { decodeText } from "./decode.ts";
import { unreadable } from "./document-error.ts";
import type { Outline } from "./outline.ts";
import { parseHtml } from "./parse-html.ts";

const maxDepth = 10;
const partsMost = 1000;

interface Part {
  headers: Map<string, string>;
  body: string;
}

/** Parses an e-mail: sender, recipients, date, text and attachment names. Attached e-mails are parsed too. */
export function parseEml(bytes: Uint8Array, outline: Outline): void {
  let parts = 0;
  const message = (part: Part, depth: number, level: number) => {
    const header = (name: string) => decodedWords(part.headers.get(name) ?? "");
    outline.heading(Math.min(6, level), header("subject"));
    const said = ["From", "Reply-To", "To", "Cc", "Bcc", "Date"].filter((name) => part.headers.has(name.toLowerCase()));
    outline.block(said.map((name) => `${name}: ${header(name.toLowerCase())}`).join("\n"));
    read(part, depth, level);
  };
  const read = (part: Part, depth: number, level: number) => {
    if (depth > maxDepth || ++parts > partsMost) throw unreadable("It nests too deep, or has too many parts.");
    const type = part.headers.get("content-type") ?? "text/plain";
    const kind = type.split(";", 1)[0]!.trim().toLowerCase();
    if (kind.startsWith("multipart/")) {
      const inner = partsOf(part.body, parameterOf(type, "boundary"));
      // Alternatives have the same content: take the plain text.
      const plain = inner.find(({ headers }) => /^text\/plain/i.test(headers.get("content-type") ?? ""));
      if (kind === "multipart/alternative" && plain && plain.body.trim() !== "") return read(plain, depth + 1, level);
      for (const one of kind === "multipart/alternative" ? inner.slice(-1) : inner) read(one, depth + 1, level);
      return;
    }
    const disposition = part.headers.get("content-disposition") ?? "";
    const name = decodedWords(parameterOf(disposition, "filename") || parameterOf(type, "name"));
    if (name !== "" || /^attachment/i.test(disposition)) outline.block(`Attachment: ${name || kind}`);
    if (kind === "message/rfc822")
      return message(partOf(contentOf(part).toString("latin1").replace(/\r\n?/g, "\n")), depth + 1, level + 1);
    // Delivery reports are text too.
    if (!/^text\/|^message\/(?:delivery-status|disposition-notification|feedback-report)$/.test(kind)) return;
    const content = new Uint8Array(contentOf(part));
    if (kind === "text/html") parseHtml(content, outline);
    else outline.block(decodeText(content, parameterOf(type, "charset") || undefined));
  };
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
  const whole = partOf(source.replace(/\r\n?/g, "\n"));
  if (whole.headers.size === 0) throw unreadable("It is not an email message.");
  message(whole, 0, 1);
}

function partOf(source: string): Part {
  const end = source.indexOf("\n\n");
  const head = (end < 0 ? source : source.slice(0, end)).slice(0, 1_000_000).replace(/\n[ \t]+/g, " ");
  const headers = new Map<string, string>();
  for (const line of head.split("\n")) {
    const [, name, value] = /^([!-9;-~]{1,100}):[ \t]*(.*)$/.exec(line) ?? [];
    if (name && !headers.has(name.toLowerCase())) headers.set(name.toLowerCase(), value!.trim());
  }
  return { headers, body: end < 0 ? "" : source.slice(end + 2) };
}

function partsOf(body: string, boundary: string): Part[] {
  if (boundary === "") return [];
  const pieces = `\n${body}`.split(`\n--${boundary}`).slice(1);
  const end = pieces.findIndex((piece) => piece.startsWith("--"));
  return pieces.slice(0, end < 0 ? undefined : end).map((piece) => partOf(piece.slice(piece.indexOf("\n") + 1)));
}

/** Returns a parameter of a header, also one that is split or encoded (RFC 2231). */
function parameterOf(header: string, name: string): string {
  const pattern = new RegExp(`;\\s*${name}(\\*\\d{0,2}\\*?)?\\s*=\\s*(?:"([^"]{0,1000})"|([^;\\s]{0,1000}))`, "gi");
  const found = [...header.matchAll(pattern)].slice(0, 100);
  const isPieces = /\d/.test(found[0]?.[1] ?? "");
  const value = (isPieces ? found : found.slice(0, 1)).map(([, , quoted, bare]) => quoted ?? bare ?? "").join("");
  if (!found.some(([, mark]) => mark?.endsWith("*"))) return value;
  try {
    return decodeURIComponent(value.replace(/^[^']*'[^']*'/, ""));
  } catch {
    return value;
  }
}

function contentOf({ headers, body }: Part): Buffer {
  const encoding = (headers.get("content-transfer-encoding") ?? "").toLowerCase();
  if (encoding === "base64") return Buffer.from(body, "base64");
  if (encoding === "quoted-printable") return quotedPrintable(body.replace(/=[ \t]*\n/g, ""));
  return Buffer.from(body, "latin1");
}

const quotedPrintable = (text: string): Buffer =>
  Buffer.from(
    text.replace(/=([0-9a-f]{2})/gi, (_, byte: string) => String.fromCharCode(Number.parseInt(byte, 16))),
    "latin1",
  );

/** Decodes the encoded words of a header (RFC 2047); raw UTF-8 is kept. */
function decodedWords(text: string): string {
  const raw = decodeText(new Uint8Array(Buffer.from(text, "latin1")));
  return raw
    .replace(/(\?=)\s+(=\?)/g, "$1$2")
    .replace(/=\?([\w-]{1,40})(?:\*\w+)?\?([bq])\?([^?\s]{0,2000})\?=/gi, (_, charset, kind: string, word: string) =>
      decodeText(
        new Uint8Array(
          kind.toLowerCase() === "b" ? Buffer.from(word, "base64") : quotedPrintable(word.replaceAll("_", " ")),
        ),
        charset,
      ),
    );
}
