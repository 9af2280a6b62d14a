import { encodingOf } from "./code-pages.ts";
import { decodeAs } from "./decode.ts";
import { unreadable } from "./document-error.ts";
import type { Outline } from "./outline.ts";
import { writeOutlookBody } from "./outlook-body.ts";
import type { Attachment, ParserOptions } from "./parse-options.ts";

const signature = 0x223e9f78;
const [messageLevel] = [1];
// Attributes (MS-OXTNEF).
const [attachmentStart, attachmentTitle, attachmentData, attachmentProperties] = [0x9002, 0x8010, 0x800f, 0x9005];
const [bodyText, messageProperties, oemCodePage] = [0x800c, 0x9003, 0x9007];
const attributesMost = 100_000;

/** Values of properties (MS-OXPROPS) by number: bytes, or a number. */
type Properties = Map<number, { type: number; bytes: Uint8Array }>;

interface Parts {
  properties: Properties;
  plain: Uint8Array;
  codePage: number | null;
  attachments: { title: Uint8Array; data: Uint8Array; properties: Properties }[];
}

/** Parses a file in which Outlook packs a message's formatted text and its attachments ("winmail.dat"). */
export async function parseTnef(bytes: Uint8Array, outline: Outline, options: ParserOptions): Promise<void> {
  for (const attachment of await readTnef(bytes, outline, options))
    await options.attachmentReader.read(attachment, outline, 1);
}

/** Writes the text and returns the attachments. */
export async function readTnef(bytes: Uint8Array, outline: Outline, options: ParserOptions): Promise<Attachment[]> {
  const { properties, plain, codePage, attachments } = partsOf(bytes);
  const encoding = encodingOf(numberOf(properties, 0x3ffd) ?? codePage ?? 1252);
  const text = (of: Properties, id: number) => textOf(of, id, encoding);
  const html = properties.get(0x1013);
  await writeOutlookBody(
    {
      plain: text(properties, 0x1000) || decodeAs(encoding, plain).replace(/\0+$/, ""),
      html: html?.type === 0x1f ? text(properties, 0x1013) : (html?.bytes ?? new Uint8Array()),
      htmlCodePage: numberOf(properties, 0x3fde),
      rtf: properties.get(0x1009)?.bytes ?? new Uint8Array(),
    },
    outline,
    options,
  );
  const isInlineImage = (one: Parts["attachments"][number]) =>
    text(one.properties, 0x3712) !== "" && /^image\//i.test(text(one.properties, 0x370e));
  return attachments
    .filter((one) => !isInlineImage(one))
    .map(({ title, data, properties: its }) => {
      const name = text(its, 0x3707) || text(its, 0x3704) || decodeAs(encoding, title).replace(/\0+$/, "");
      const object = its.get(0x3701);
      // Objects begin with the number of their interface; an attached message has this format too.
      const content = object ? (object.type === 0x0d ? object.bytes.subarray(16) : object.bytes) : data;
      const isMessage = content.length > 4 && viewOf(content).getUint32(0, true) === signature;
      const type = isMessage ? "application/ms-tnef" : text(its, 0x370e).toLowerCase() || "application/octet-stream";
      return { name, type, content };
    });
}

function partsOf(bytes: Uint8Array): Parts {
  const view = viewOf(bytes);
  if (bytes.length < 6 || view.getUint32(0, true) !== signature) throw unreadable("It is not a TNEF file.");
  const parts: Parts = { properties: new Map(), plain: new Uint8Array(), codePage: null, attachments: [] };
  let count = 0;
  for (let at = 6; at + 9 <= bytes.length && count < attributesMost; count++) {
    const level = bytes[at];
    const [id, length] = [view.getUint16(at + 1, true), view.getUint32(at + 5, true)];
    const data = bytes.subarray(at + 9, at + 9 + length);
    at += 9 + length + 2;
    if (level === messageLevel) takeMessageAttribute(parts, id, data);
    else takeAttachmentAttribute(parts, id, data);
  }
  return parts;
}

function takeMessageAttribute(parts: Parts, id: number, data: Uint8Array): void {
  if (id === bodyText) parts.plain = data;
  if (id === oemCodePage && data.length >= 4) parts.codePage = viewOf(data).getUint32(0, true);
  if (id === messageProperties) parts.properties = propertiesIn(data);
}

function takeAttachmentAttribute(parts: Parts, id: number, data: Uint8Array): void {
  if (id === attachmentStart)
    parts.attachments.push({ title: new Uint8Array(), data: new Uint8Array(), properties: new Map() });
  const attachment = parts.attachments.at(-1);
  if (!attachment) return;
  if (id === attachmentTitle) attachment.title = data;
  if (id === attachmentData) attachment.data = data;
  if (id === attachmentProperties) attachment.properties = propertiesIn(data);
}

const variableTypes = new Set([0x1e, 0x1f, 0x102, 0x0d]);
const sizes: Record<number, number> = { 5: 8, 6: 8, 7: 8, 20: 8, 64: 8, 72: 16 };
const padded = (length: number): number => Math.ceil(length / 4) * 4;

/** Reads the properties of a message or an attachment, as far as they are whole. Of several values the first counts. */
function propertiesIn(data: Uint8Array): Properties {
  const properties: Properties = new Map();
  const view = viewOf(data);
  let at = 0;
  const next = () => {
    at += 4;
    return view.getUint32(at - 4, true);
  };
  try {
    for (let count = Math.min(next(), attributesMost); count > 0; count--) {
      const tag = next();
      const [kind, id] = [tag & 0xffff, tag >>> 16];
      const type = kind & 0xefff;
      if (id >= 0x8000) {
        at += 16;
        if (next() === 1) at += padded(next());
        else at += 4;
      }
      const isVariable = variableTypes.has(type);
      const values = isVariable || kind !== type ? next() : 1;
      for (let index = 0; index < Math.min(values, attributesMost); index++) {
        const length = isVariable ? next() : (sizes[type] ?? 4);
        if (at + length > data.length) return properties;
        if (index === 0) properties.set(id, { type, bytes: data.subarray(at, at + length) });
        at += padded(length);
      }
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  return properties;
}

function textOf(properties: Properties, id: number, encoding: string): string {
  const value = properties.get(id);
  if (!value || ![0x1e, 0x1f].includes(value.type)) return "";
  return decodeAs(value.type === 0x1f ? "utf-16le" : encoding, value.bytes).replace(/\0+$/, "");
}

function numberOf(properties: Properties, id: number): number | null {
  const value = properties.get(id);
  return value?.type === 3 ? viewOf(value.bytes).getUint32(0, true) : null;
}

const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
