import { isUtf8 } from "node:buffer";
import PostalMime, { decodeWords } from "postal-mime";
import { cleanText, decodeText } from "./decode.ts";
import { unreadable } from "./document-error.ts";
import type { Outline } from "./outline.ts";
import { parseHtml } from "./parse-html.ts";

const maxDepth = 10;
const partsMost = 1000;
const headMost = 1_000_000;
const byteOrderMark = "\xef\xbb\xbf";

interface Field {
  parsed: { value: string; params: Record<string, string> };
}

interface Part {
  headers: { key: string; value: string }[];
  contentType: Field;
  contentDisposition: Field;
  content: ArrayBuffer | null;
  childNodes: Part[];
  /** The content in the encoding that the part declares. */
  getTextContent(): string;
}

/** The parser with the tree that it builds, because its result loses the order of the parts. */
class MessageParser extends PostalMime {
  declare readonly root: Part;
}

/**
 * Reads an e-mail: sender, recipients, date, text and attachment names. Attached e-mails are read too. Returns the
 * function that outputs it, because documents that contain it are read at once.
 */
export async function readEml(bytes: Uint8Array): Promise<(outline: Outline) => void> {
  const output: ((outline: Outline) => void)[] = [];
  const block = (text: string) => void output.push((outline) => outline.block(text));
  let parts = 0;
  const message = async (root: Part, depth: number, level: number) => {
    const values = new Map(root.headers.toReversed().map(({ key, value }) => [key, value]));
    const header = (name: string) => cleanText(decodeWords(values.get(name) ?? ""));
    output.push((outline) => outline.heading(Math.min(6, level), header("subject")));
    const headerNames = ["From", "Reply-To", "To", "Cc", "Bcc", "Date"].filter((name) =>
      values.has(name.toLowerCase()),
    );
    block(headerNames.map((name) => `${name}: ${header(name.toLowerCase())}`).join("\n"));
    await read(root, depth, level);
  };
  const read = async (part: Part, depth: number, level: number): Promise<void> => {
    if (depth > maxDepth || ++parts > partsMost) throw tooNested();
    const { value: kind, params } = part.contentType.parsed;
    if (kind.startsWith("multipart/")) {
      const inner = part.childNodes;
      // Alternatives have the same content: take the plain text.
      const plain = inner.find(({ contentType }) => contentType.parsed.value === "text/plain");
      if (kind === "multipart/alternative" && plain && plain.getTextContent().trim() !== "")
        return await read(plain, depth + 1, level);
      for (const one of kind === "multipart/alternative" ? inner.slice(-1) : inner) await read(one, depth + 1, level);
      return;
    }
    const { value: disposition, params: its } = part.contentDisposition.parsed;
    const name = cleanText(decodeWords(its.filename || params.name || ""));
    if (name !== "" || disposition === "attachment") block(`Attachment: ${name || kind}`);
    const content = new Uint8Array(part.content ?? []);
    if (kind === "message/rfc822") return await message(await treeOf(content), depth + 1, level + 1);
    // Delivery reports are text too.
    if (!/^text\/|^message\/(?:delivery-status|disposition-notification|feedback-report)$/.test(kind)) return;
    const text = declaredText(part, content);
    if (kind === "text/html")
      output.push((outline) => parseHtml(text === null ? content : new TextEncoder().encode(`\ufeff${text}`), outline));
    else block(text ?? decodeText(content, params.charset));
  };
  const whole = await treeOf(bytes);
  const isMessage = whole.headers.some(({ key, value }) => value !== "" && /^[!-~]+$/.test(key));
  if (!isMessage) throw unreadable("It is not an email message.");
  await message(whole, 0, 1);
  return (outline) => {
    for (const write of output) write(outline);
  };
}

async function treeOf(bytes: Uint8Array): Promise<Part> {
  const parser = new MessageParser({ forceRfc822Attachments: true });
  const message = withUtf8Head(bytes);
  try {
    // The parser copies what is no whole buffer, and a large message may not fit twice into the memory of the child.
    await parser.parse(message.length === message.buffer.byteLength ? (message.buffer as ArrayBuffer) : message);
  } catch (error) {
    throw /^Maximum/.test((error as Error).message) ? tooNested() : error;
  }
  return parser.root;
}

/** Makes the headers UTF-8, as the parser takes them to be: old programs write them in the encoding of the text. */
function withUtf8Head(bytes: Uint8Array): Uint8Array {
  const start = Buffer.from(bytes.subarray(0, headMost)).toString("latin1");
  const end = start.search(/\n\r?\n|$/);
  const head = bytes.subarray(0, end);
  if (isUtf8(head) && !start.startsWith(byteOrderMark)) return bytes;
  const [, charset] = /charset="?([\w-]+)/i.exec(start.slice(0, end)) ?? [];
  return Buffer.concat([Buffer.from(decodeText(head, charset)), bytes.subarray(end)]);
}

// Programs declare these without looking at the text.
const commonCharsets = /^(?:us-ascii|iso-8859-1|windows-1252|utf-?8)$/i;

/** Returns the text of a part by the encoding that it declares, or null if it is better found in the text. */
function declaredText(part: Part, content: Uint8Array): string | null {
  const { charset } = part.contentType.parsed.params;
  if (!charset || commonCharsets.test(charset)) return null;
  decodeText(content); // Refuses binary data.
  const text = cleanText(part.getTextContent());
  return text.includes("\ufffd") ? null : text;
}

const tooNested = () => unreadable("It nests too deep, or has too many parts.");
