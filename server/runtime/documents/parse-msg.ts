import { typeOfAttachment } from "./attachments.ts";
import { codePageOf, encodingOf } from "./code-pages.ts";
import { openCompoundFile, type Storage } from "./compound-file.ts";
import { decodeAs } from "./decode.ts";
import { TooNested } from "./document-error.ts";
import { formatOf } from "./formats.ts";
import type { Outline } from "./outline.ts";
import { writeOutlookBody } from "./outlook-body.ts";
import type { ParserOptions } from "./parse-options.ts";
import { outlineBelow } from "./part-outline.ts";

const partsMost = 1000;
// MAPI properties (MS-OXPROPS) of a message.
const [subject, body, html, rtf, sentAt, receivedAt] = ["0037", "1000", "1013", "1009", "0039", "0E06"];
const [senderName, senderAddress, senderSmtp] = ["0C1A", "0C1F", "5D01"];
const [name, address, smtp, recipientType] = ["3001", "3003", "39FE", "0C15"];
const [fileName, shortName, mimeType, content, contentId] = ["3707", "3704", "370E", "3701", "3712"];
const [attachMethod, ole] = ["3705", 6];
const [codePage, htmlCodePage, locale] = ["3FFD", "3FDE", "3FF1"];
const [unicode, oneByte, binary, time] = ["001F", "001E", "0102", "0040"];

/**
 * Parses an Outlook message: sender, recipients, date, text, then each attachment by the reader of its format. Attached
 * messages are parsed likewise.
 */
export async function parseMsg(bytes: Uint8Array, outline: Outline, options: ParserOptions): Promise<void> {
  let parts = 0;
  await message(openCompoundFile(bytes), 32, 1);

  async function message(storage: Storage, head: number, level: number): Promise<void> {
    const of = propertiesOf(storage, head);
    const encoding = encodingOf(of.number(codePage) ?? codePageOf(of.number(locale) ?? 0));
    const text = (id: string) => of.text(id, encoding);
    outline.heading(Math.min(6, level), text(subject));
    const from = mailbox(text(senderName), text(senderSmtp) || text(senderAddress));
    const people = of.all("__recip").map((each) => {
      const its = propertiesOf(each, 8);
      const [own, where] = [its.text(name, encoding), its.text(smtp, encoding) || its.text(address, encoding)];
      return { type: its.number(recipientType), words: mailbox(own, where) };
    });
    const to = (type: number) => people.filter((one) => one.type === type).map(({ words }) => words);
    const headerFields = {
      From: [from],
      To: to(1),
      Cc: to(2),
      Bcc: to(3),
      Date: [of.date(sentAt) ?? of.date(receivedAt) ?? ""],
    };
    const lines = Object.entries(headerFields).filter(([, words]) => words.join("") !== "");
    outline.block(lines.map(([title, words]) => `${title}: ${words.join(", ")}`).join("\n"));
    await writeOutlookBody(
      {
        plain: text(body),
        html: of.text(html, encoding) || of.bytes(html),
        htmlCodePage: of.number(htmlCodePage),
        rtf: of.bytes(rtf),
      },
      outlineBelow(outline, level),
      options,
    );
    const attachments = of.all("__attach");
    parts += attachments.length;
    if (parts > partsMost) throw new TooNested();
    for (const each of attachments) await attachment(each, encoding, level + 1);
  }

  /** Writes an attachment's name and text. Images that belong to the text are left out. */
  async function attachment(storage: Storage, encoding: string, level: number): Promise<void> {
    const of = propertiesOf(storage, 8);
    const text = (id: string) => of.text(id, encoding);
    const called = text(fileName) || text(shortName) || text(name);
    const inner = storage.storages.get(`__substg1.0_${content}000D`);
    if (inner && of.number(attachMethod) !== ole) return await attachedMessage(inner, called, Math.min(level, 5));
    const type = text(mimeType).toLowerCase();
    const attached = { name: called, type: type || "application/octet-stream", content: of.bytes(content) };
    const isInlineImage = text(contentId) !== "" && formatOf(typeOfAttachment(attached)) === "image";
    if (!isInlineImage) await options.attachmentReader.read(attached, outline, level);
  }

  async function attachedMessage(storage: Storage, called: string, level: number): Promise<void> {
    if (called !== "") outline.heading(level, `Attachment: ${called}`);
    options.attachmentReader.enter();
    await message(storage, 24, called === "" ? level : level + 1);
    options.attachmentReader.leave();
    outline.leave(level);
  }
}

/**
 * Returns a mailbox. Exchange addresses people of the same company by directory path, which is useless elsewhere and is
 * dropped.
 */
function mailbox(own: string, where: string): string {
  const address = where.includes("@") ? where : "";
  return own === "" || address === "" || own === address ? own || address : `${own} <${address}>`;
}

/**
 * Reads the properties of a storage: texts are streams, numbers and times are in a table after a header of `head`
 * bytes.
 */
function propertiesOf({ streams, storages }: Storage, head: number) {
  const bytesOf = (id: string, type: string) => streams.get(`__substg1.0_${id}${type}`)?.();
  const table = streams.get("__properties_version1.0")?.() ?? new Uint8Array();
  const view = new DataView(table.buffer, table.byteOffset, table.length);
  const values = new Map<string, number>();
  for (let at = head; at + 16 <= table.length; at += 16)
    values.set(view.getUint32(at, true).toString(16).padStart(8, "0").toUpperCase(), at + 8);
  return {
    text(id: string, encoding: string): string {
      const wide = bytesOf(id, unicode);
      const text = wide ? decodeAs("utf-16le", wide) : decodeAs(encoding, bytesOf(id, oneByte) ?? new Uint8Array());
      return text.replace(/\0+$/, "");
    },
    bytes: (id: string): Uint8Array => bytesOf(id, binary) ?? new Uint8Array(),
    number(id: string): number | null {
      const at = values.get(`${id}0003`);
      return at === undefined ? null : view.getUint32(at, true);
    },
    /** Reads a time, stored in tenths of microseconds since 1601. */
    date(id: string): string | null {
      const at = values.get(`${id}${time}`);
      const ms = at === undefined ? 0 : Number(view.getBigUint64(at, true) / 10_000n) - 11_644_473_600_000;
      return ms > 0 && ms < 8.64e15 ? new Date(ms).toISOString() : null;
    },
    /** Returns its sub-storages with this prefix, in their order. */
    all: (beginning: string): Storage[] =>
      [...storages]
        .filter(([called]) => called.startsWith(beginning))
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([, storage]) => storage),
  };
}
