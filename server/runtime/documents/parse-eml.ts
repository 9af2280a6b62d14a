import { chooseVersions } from "./alternatives.ts";
import { cleanText } from "./decode.ts";
import { DocumentError, TooNested, unreadable } from "./document-error.ts";
import { decodeEncodedWords } from "./mail-charset.ts";
import { bodyText, contentOf, encryptedMessage } from "./mail-text.ts";
import { charsetIn, type MailPart, parseMail } from "./mail-tree.ts";
import type { Outline } from "./outline.ts";
import type { Attachment, ParserOptions } from "./parse-options.ts";
import { readTnef } from "./parse-tnef.ts";
import { openPartText, outlineBelow, type PartText } from "./part-outline.ts";
import { signedContent } from "./signed-content.ts";

const maxDepth = 20;
const partsMost = 1000;
const copiedMost = 100_000;
const shownHeaders = ["From", "Reply-To", "To", "Cc", "Bcc", "Date"];

/** An attachment, or a message that is attached. */
type Enclosure = Attachment | { name: string; message: MailPart };

/** Text and attachments of a part. */
interface Content {
  bodies: PartText[];
  enclosures: Enclosure[];
}

/** Position of a part among the others. */
interface Position {
  depth: number;
  isRelated: boolean;
  isVersion: boolean;
}

/**
 * Parses an e-mail: sender, recipients, date, text, then each attachment by the reader of its format. Attached messages
 * are parsed likewise.
 */
export async function parseEml(bytes: Uint8Array, outline: Outline, options: ParserOptions): Promise<void> {
  const root = await parseMail(bytes, options.encoding);
  const isMessage = root.headers.some(({ key, value }) => value !== "" && /^[!-~]+$/.test(key));
  if (!isMessage) throw unreadable("It is not an email message.");
  const charset = charsetIn(Buffer.from(bytes.subarray(0, 65_536)).toString("latin1"));
  await openMailReader(outline, options, charset).message(root, 1);
}

/** Parses a message that is signed with S/MIME, as a file or an attachment. */
export async function parseSmime(bytes: Uint8Array, outline: Outline, options: ParserOptions): Promise<void> {
  await parseEml(signedContent(bytes), outline, options);
}

function openMailReader(outline: Outline, options: ParserOptions, fallback: string | undefined) {
  const { attachmentReader } = options;
  let parts = 0;

  async function message(root: MailPart, level: number): Promise<void> {
    writeHeaders(root, outline, level);
    const { bodies, enclosures } = await read(root, { depth: 0, isRelated: false, isVersion: false });
    const text = outlineBelow(outline, level);
    for (const body of bodies) {
      text.leave();
      body.writeTo(text);
    }
    for (const enclosure of withoutCopies(enclosures)) {
      if ("message" in enclosure) await attachedMessage(enclosure, level + 1);
      else await attachmentReader.read(enclosure, outline, level + 1);
    }
  }

  async function attachedMessage({ name, message: root }: { name: string; message: MailPart }, level: number) {
    const own = Math.min(level, 5);
    if (name !== "") outline.heading(own, `Attachment: ${name}`);
    attachmentReader.enter();
    try {
      await message(await parseMail(contentOf(root), options.encoding), name === "" ? own : own + 1);
    } catch (error) {
      if (!(error instanceof DocumentError) || error instanceof TooNested) throw error;
      outline.warn("part_unreadable", `The attached message ${name} was not read: ${error.message}`);
    } finally {
      attachmentReader.leave();
    }
    outline.leave(own);
  }

  async function read(part: MailPart, position: Position): Promise<Content> {
    if (position.depth > maxDepth || ++parts > partsMost) throw new TooNested();
    const { value: kind } = part.contentType.parsed;
    if (!kind.startsWith("multipart/")) return await leaf(part, kind, position);
    if (kind === "multipart/encrypted") {
      outline.warn("part_unreadable", encryptedMessage("PGP"));
      return nothing;
    }
    if (part.childNodes.length === 0) return await unsplit(part, position);
    const inner = {
      depth: position.depth + 1,
      isRelated: kind === "multipart/related" || (position.isRelated && kind !== "multipart/mixed"),
      isVersion: kind === "multipart/alternative",
    };
    const contents: (Content & { kind: string })[] = [];
    for (const child of part.childNodes)
      contents.push({ kind: child.contentType.parsed.value, ...(await read(child, inner)) });
    const enclosures = contents.flatMap((content) => content.enclosures);
    const bodies = kind === "multipart/alternative" ? chosen(contents) : contents.flatMap((content) => content.bodies);
    return { bodies, enclosures };
  }

  async function leaf(part: MailPart, kind: string, position: Position): Promise<Content> {
    const content = contentOf(part);
    const attachment = { name: nameOf(part), type: kind, content, charset: part.contentType.parsed.params.charset };
    const { name } = attachment;
    const isAttached = part.contentDisposition.parsed.value === "attachment";
    if (silentKinds.test(kind) || isInlineImage(part, kind, position)) return nothing;
    if (messageKinds.test(kind)) return { bodies: [], enclosures: [{ name, message: part }] };
    if (smimeKinds.test(kind) || (kind === "application/octet-stream" && /\.p7m$/i.test(name)))
      return await sealed(content, position);
    if (tnefKinds.test(kind) || /^winmail\.dat$/i.test(name)) return await outlookParts(attachment);
    const isText = bodyKinds.test(kind) && !isAttached && (name === "" || position.isVersion);
    if (!isText) return { bodies: [], enclosures: content.length === 0 && name === "" ? [] : [attachment] };
    const { text, files } = await bodyText(part, options, fallback);
    const enclosures = files.map((file) => ({ ...file, type: "application/octet-stream" }));
    return { bodies: [text], enclosures };
  }

  /** Reads a part that should have parts inside and has none: by the boundary that its text has, or as text. */
  async function unsplit(part: MailPart, position: Position): Promise<Content> {
    const content = contentOf(part);
    const [, boundary] = /^--([^\s-].{0,69}?)[ \t]*\r?\n(?:content-|\r?\n)/im.exec(latin1(content)) ?? [];
    const head = boundary
      ? `Content-Type: multipart/mixed; boundary="${boundary.replace(/["\\]/g, "\\$&")}"`
      : "Content-Type: text/plain";
    const again = await parseMail(Buffer.concat([Buffer.from(`${head}\n\n`, "latin1"), content]), options.encoding);
    if (boundary && again.childNodes.length === 0) return { bodies: [], enclosures: [] };
    return await read(again, { ...position, depth: position.depth + 1 });
  }

  /** Reads a part that is sealed with S/MIME: the message inside if it is only signed. */
  async function sealed(content: Uint8Array, position: Position): Promise<Content> {
    try {
      const inner = await parseMail(signedContent(content), options.encoding);
      return await read(inner, { ...position, depth: position.depth + 1 });
    } catch (error) {
      if (!(error instanceof DocumentError)) throw error;
      const isEncrypted = error.code === "document_encrypted";
      const message = isEncrypted ? encryptedMessage("S/MIME") : `A part of the message was not read: ${error.message}`;
      outline.warn("part_unreadable", message);
      return nothing;
    }
  }

  /** Reads the parts that Outlook packs into one file. */
  async function outlookParts(attachment: Attachment): Promise<Content> {
    const text = openPartText();
    try {
      const enclosures = await readTnef(attachment.content, text.outline, options);
      return { bodies: [text], enclosures };
    } catch (error) {
      if (!(error instanceof DocumentError)) throw error;
      outline.warn("part_unreadable", `The attachment “${attachment.name}” was not read: ${error.message}`);
      return nothing;
    }
  }

  return { message };
}

const nothing: Content = { bodies: [], enclosures: [] };
const silentKinds =
  /^application\/(?:(?:x-)?pkcs7-signature|pgp-signature|pgp-encrypted|applefile)$|^text\/css$|^multipart\/appledouble$/;
const smimeKinds = /^application\/(?:x-)?pkcs7-mime$/;
const tnefKinds = /^application\/(?:vnd\.)?ms-tnef$/;
const messageKinds = /^message\/(?:rfc822|global|news)$/;
// Reports of delivery and other messages are text too.
const bodyKinds =
  /^text\/(?!calendar|x-vcard|vcard|directory|csv|tab-separated-values|x-vcalendar)|^message\/|^application\/(?:xhtml\+xml|rtf)$/;
const latin1 = (bytes: Uint8Array): string => Buffer.from(bytes.subarray(0, 65_536)).toString("latin1");

function isInlineImage(part: MailPart, kind: string, { isRelated }: Position): boolean {
  if (!kind.startsWith("image/") || !isRelated) return false;
  return part.contentId !== undefined || part.contentDisposition.parsed.value !== "attachment";
}

/** Returns the texts of the versions to output. Versions for watches and for AMP repeat the HTML. */
function chosen(contents: readonly (Content & { kind: string })[]): PartText[] {
  const usual = contents.filter(({ kind, bodies }) => bodies.length > 0 && !/^text\/(?:x-amp|watch)-html$/.test(kind));
  const versions = usual.length > 0 ? usual : contents.filter(({ bodies }) => bodies.length > 0);
  const texts = versions.map(({ bodies }) => bodies.map((body) => body.text()).join("\n"));
  return chooseVersions(texts).flatMap(({ index, lines }) => {
    if (lines === null) return versions[index]?.bodies ?? [];
    const rest = openPartText();
    rest.outline.block(lines.join("\n"));
    return [rest];
  });
}

/** Leaves out parts without a name that a part with a name repeats, as invitations do. */
function withoutCopies(enclosures: readonly Enclosure[]): Enclosure[] {
  const textOf = (one: Enclosure): string | null =>
    "content" in one && one.content.length < copiedMost
      ? Buffer.from(one.content).toString("latin1").replace(/\s+/g, "")
      : null;
  const named = new Set(enclosures.filter(({ name }) => name !== "").map(textOf));
  return enclosures.filter((one) => one.name !== "" || textOf(one) === null || !named.has(textOf(one)));
}

function nameOf({ contentType, contentDisposition }: MailPart): string {
  const name = contentDisposition.parsed.params.filename || contentType.parsed.params.name || "";
  return cleanText(decodeEncodedWords(name)).trim();
}

function writeHeaders({ headers }: MailPart, outline: Outline, level: number): void {
  const texts = (name: string) =>
    headers
      .filter(({ key, value }) => key === name.toLowerCase() && value !== "")
      .map(({ value }) => cleanText(decodeEncodedWords(value)).replace(/\s+/g, " ").trim());
  const [subject = ""] = texts("Subject");
  outline.heading(Math.min(6, level), subject);
  const lines = shownHeaders.map((name) => ({ name, value: texts(name).join(", ") }));
  outline.block(
    lines
      .filter(({ value }) => value !== "")
      .map(({ name, value }) => `${name}: ${value}`)
      .join("\n"),
  );
}
