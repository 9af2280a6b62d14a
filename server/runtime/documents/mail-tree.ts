import { isUtf8 } from "node:buffer";
import PostalMime from "postal-mime";
import { decodeText } from "./decode.ts";
import { TooNested } from "./document-error.ts";
import { decodeDeclared, decodeIn, encodingNamed } from "./mail-charset.ts";

interface Field {
  parsed: { value: string; params: Record<string, string> };
}

/** A part of a message: with children, or with content. */
export interface MailPart {
  headers: { key: string; value: string }[];
  contentType: Field;
  contentDisposition: Field;
  contentId?: string | undefined;
  content: ArrayBuffer | null;
  childNodes: MailPart[];
  /** Joins the lines of a paragraph (RFC 3676). */
  decodeFlowedText(text: string, deletesSpace: boolean): string;
}

type Line = Uint8Array<ArrayBuffer>;

interface Decoder {
  update(line: Line): void;
  finalize(): Promise<ArrayBuffer>;
}

/** A part whose lines are being read. */
interface OpenPart {
  state: string;
  headerLines: string[];
  contentType: Field;
  contentTransferEncoding: { encoding: string };
  contentDecoder: Decoder | null;
}

/**
 * The parser with the tree that it builds, because its result loses the order of the parts. It corrects the lines of
 * headers on their way in.
 */
class MessageParser extends PostalMime {
  declare readonly root: MailPart & { state: string };
  declare readonly currentNode: OpenPart;
  declare av: Line;
  declare readPos: number;

  constructor(
    private readonly charset: string | undefined,
    private readonly isBare: boolean,
  ) {
    super({ forceRfc822Attachments: true });
  }

  async processLine(line: Line, isFinal: boolean): Promise<void> {
    if (this.currentNode.state === "body") endCoding(this.currentNode, line);
    if (this.currentNode.state !== "header" || line.length === 0) return await this.passOn(line, isFinal);
    if (this.endsHeaders(line)) await this.passOn(new Uint8Array(), false);
    return await this.passOn(isUtf8(line) ? line : (utf8Of(line, this.charset) as Line), isFinal);
  }

  private async passOn(line: Line, isFinal: boolean): Promise<void> {
    const base = PostalMime.prototype as unknown as { processLine: MessageParser["processLine"] };
    return await base.processLine.call(this, line, isFinal);
  }

  /** True for a line of text where headers are expected, because the empty line between them is missing. */
  private endsHeaders(line: Line): boolean {
    const text = latin1(line.subarray(0, 200));
    if (isHeader.test(text) || text.startsWith("--")) return false;
    const { headerLines } = this.currentNode;
    if (headerLines.length === 0) return !this.isBare || this.currentNode !== (this.root as unknown);
    const next = latin1(this.av.subarray(this.readPos, this.readPos + 200)).split(/\r?\n/)[0] ?? "";
    return !isHeader.test(next);
  }
}

/** A line of words, or a line that is drawn of signs. */
const isPlainLine = /^(?=.*[^\w+/=\s-])\S+[ \t]+\S|^(?:-- ?|[-_=*]{8,})\s*$/;

/**
 * Ends the Base64 of a text at a line of words: mailing lists append theirs as they are, and some programs declare
 * Base64 for what is not. A boundary among such lines is still found, as it never reaches a decoder.
 */
function endCoding(part: OpenPart, line: Line): void {
  const { contentDecoder: coded, contentTransferEncoding, contentType } = part;
  if (coded === null || coded instanceof PlainRest || !/base64/i.test(contentTransferEncoding.encoding)) return;
  if (contentType.parsed.value.startsWith("text/") && isPlainLine.test(latin1(line.subarray(0, 200))))
    part.contentDecoder = new PlainRest(coded);
}

/** Keeps lines as they are behind the content that was decoded. */
class PlainRest implements Decoder {
  readonly #lines: Line[] = [];
  constructor(private readonly coded: Decoder) {}

  update(line: Line): void {
    this.#lines.push(line.slice());
  }

  async finalize(): Promise<ArrayBuffer> {
    const content = await this.coded.finalize();
    const lines = this.#lines.map((line) => latin1(line));
    if (lines.length === 0) return content;
    const rest = Buffer.from(`${content.byteLength > 0 ? "\n" : ""}${lines.join("\n")}`, "latin1");
    return new Uint8Array(Buffer.concat([new Uint8Array(content), rest])).buffer;
  }
}

const isHeader = /^(?:>?From |[!-9;-~]+[ \t]*:|[ \t])/;
const latin1 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("latin1");
const byteOrderMark = "\xef\xbb\xbf";
const sample = 65_536;

/** Parses a message into its parts. `named` is the encoding that the upload names. */
export async function parseMail(bytes: Uint8Array, named: string | null = null): Promise<MailPart> {
  const message = withoutRubbish(bytes);
  const start = latin1(message.subarray(0, sample));
  const charset = named ?? charsetIn(start);
  const parser = new MessageParser(charset, true);
  try {
    // The parser copies what is no whole buffer, and a large message may not fit twice into the memory of the child.
    await parser.parse(message.length === message.buffer.byteLength ? (message.buffer as ArrayBuffer) : message);
  } catch (error) {
    throw /^Maximum/.test((error as Error).message) ? new TooNested() : error;
  }
  return parser.root;
}

/** Returns the first encoding that a message declares, for its headers and for parts that declare none. */
export const charsetIn = (start: string): string | undefined =>
  [...start.matchAll(/charset\*?\s*=\s*["']?([\w.:-]+)/gi)]
    .map(([, charset = ""]) => charset)
    .find((charset) => !/^(?:us-)?ascii$/i.test(charset) && encodingNamed(charset) !== null);

/** Removes what stands before the first header, and makes the line ends and the letters of UTF-16 those of ASCII. */
function withoutRubbish(bytes: Uint8Array): Uint8Array {
  const marked = latin1(bytes.subarray(0, 2));
  if (marked === "\xff\xfe") return withoutRubbish(Buffer.from(decodeIn("utf-16le", bytes).text));
  if (marked === "\xfe\xff") return withoutRubbish(Buffer.from(decodeIn("utf-16be", bytes).text));
  const start = latin1(bytes.subarray(0, sample));
  if (!start.includes("\n") && start.includes("\r"))
    return withoutRubbish(bytes.map((byte) => (byte === 13 ? 10 : byte)));
  const rubbish = (start.startsWith(byteOrderMark) ? byteOrderMark : "").length;
  const blank = /^[ \t]*\r?\n/;
  let at = rubbish;
  for (let line = blank.exec(start.slice(at, at + 200)); line; line = blank.exec(start.slice(at, at + 200)))
    at += line[0].length;
  return at === 0 ? bytes : bytes.slice(at);
}

function utf8Of(line: Uint8Array, charset: string | undefined): Uint8Array {
  return Buffer.from(decodeDeclared(line, charset)?.text ?? decodeText(line, charset));
}
