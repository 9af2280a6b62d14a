import { cleanText } from "./decode.ts";
import { DocumentError, unreadable } from "./document-error.ts";
import { unwrapLayoutTables } from "./layout-tables.ts";
import { type DecodedText, decodeDeclared, decodeIn, encodingNamed } from "./mail-charset.ts";
import type { MailPart } from "./mail-tree.ts";
import type { ParserOptions } from "./parse-options.ts";
import { openPartText, type PartText } from "./part-outline.ts";
import { readPgpText } from "./pgp-text.ts";
import { takeEncodedFiles } from "./uuencode.ts";

interface BodyText {
  text: PartText;
  /** Files that are written into the text. */
  files: { name: string; content: Uint8Array }[];
}

/** Reads a text part of a message. `fallback` is the encoding that other parts declare. */
export async function bodyText(part: MailPart, options: ParserOptions, fallback?: string): Promise<BodyText> {
  const kind = part.contentType.parsed.value;
  const text = openPartText();
  const { outline } = text;
  try {
    if (/^text\/(?:html|x-amp-html|watch-html)$|^application\/xhtml\+xml$/.test(kind)) {
      await readHtml(part, options, text);
      return { text, files: [] };
    }
    if (/^(?:text|application)\/rtf$/.test(kind)) {
      await options.readPart(contentOf(part), "application/rtf", outline);
      return { text, files: [] };
    }
    const plain = await plainText(part, options, text, fallback);
    const { text: rest, files } = takeEncodedFiles(plain);
    const { text: readable, isEncrypted } = readPgpText(rest);
    if (isEncrypted) outline.warn("part_unreadable", encryptedMessage("PGP"));
    outline.block(readable);
    return { text, files };
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    outline.warn("part_unreadable", `A part of the text (${kind}) was not read: ${error.message}`);
    return { text, files: [] };
  }
}

export const encryptedMessage = (how: string): string =>
  `The text of the message is encrypted with ${how} and was not read. Decrypt it before you upload it.`;

export const contentOf = (part: MailPart): Uint8Array => new Uint8Array(part.content ?? []);

async function readHtml(part: MailPart, { readPart, encoding }: ParserOptions, { outline }: PartText): Promise<void> {
  const content = contentOf(part);
  const found = decodeNamed(content, encoding) ?? decodeDeclared(content, part.contentType.parsed.params.charset);
  if (!found) return await readPart(content, "text/html", outline, { encoding: null });
  report(found, outline);
  // The mark makes the reader take the text as it is, whatever the page declares.
  const marked = new TextEncoder().encode(`\ufeff${unwrapLayoutTables(found.text.replace(/^\ufeff/, ""))}`);
  await readPart(marked, "text/html", { ...outline, encodedAs() {} }, { encoding: null });
}

async function plainText(part: MailPart, options: ParserOptions, to: PartText, fallback?: string): Promise<string> {
  const content = contentOf(part);
  const { value: kind, params } = part.contentType.parsed;
  const found =
    decodeNamed(content, options.encoding) ??
    decodeDeclared(content, params.charset) ??
    decodeLikeOthers(content, fallback, to);
  if (found) {
    if (isBinary(found.text)) throw unreadable("It has binary data.");
    report(found, to.outline);
  }
  const text = cleanText(found?.text ?? (await detectedText(content, options, to)));
  if (/^flowed$/i.test(params.format ?? "")) return part.decodeFlowedText(text, /^yes$/i.test(params.delsp ?? ""));
  return /^text\/(?:enriched|richtext)$/.test(kind) ? enrichedText(text) : text;
}

/** Decodes text without a known encoding like the other parts of its message, if those are not of Western Europe. */
function decodeLikeOthers(content: Uint8Array, fallback: string | undefined, to: PartText): DecodedText | null {
  const name = fallback === undefined ? null : encodingNamed(fallback);
  if (name === null || name === "utf-8" || name === "windows-1252") return null;
  const found = decodeIn(name, content);
  if (found.hasErrors) return null;
  to.outline.warn("encoding_guessed", `A part of the text declares no known encoding. It was read as ${name}.`);
  return found;
}

/** Reads text as a text file is read, whose encoding is detected. */
async function detectedText(content: Uint8Array, { readPart }: ParserOptions, to: PartText): Promise<string> {
  const texts: string[] = [];
  await readPart(content, "text/plain", { ...to.outline, block: (text) => void texts.push(text) }, { encoding: null });
  return texts.join("\n");
}

function decodeNamed(content: Uint8Array, encoding: string | null): DecodedText | null {
  const name = encoding === null ? null : encodingNamed(encoding);
  return name === null ? null : decodeIn(name, content);
}

/** True if more than one of fifty characters is a control character. */
function isBinary(text: string): boolean {
  const start = text.slice(0, 65_536);
  return 50 * (start.match(/(?!\s)\p{Cc}/gu)?.length ?? 0) > start.length;
}

function report({ encoding, hasErrors }: DecodedText, outline: PartText["outline"]): void {
  outline.encodedAs(encoding);
  if (hasErrors) outline.warn("encoding_errors", `Some characters of the text are not valid in ${encoding}.`);
}

/** Removes the commands of enriched text (RFC 1896), in which a single line end is a space. */
const enrichedText = (text: string): string =>
  text
    .replace(/<param>[^<]{0,1000}<\/param>/gi, "")
    .replace(/<(?:nl|paragraph|np)>/gi, "\n")
    .replace(/<\/?[a-z][\w-]{0,60}>/gi, "")
    .replaceAll("<<", "<")
    .replace(/\n(\n*)/g, (_, more: string) => (more === "" ? " " : more));
