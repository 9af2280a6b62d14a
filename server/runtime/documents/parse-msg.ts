import { codePageOf, encodingOf } from "./code-pages.ts";
import { openCompoundFile, type Storage } from "./compound-file.ts";
import { decodeAs, decodeText } from "./decode.ts";
import { unreadable } from "./document-error.ts";
import type { Outline } from "./outline.ts";
import { readEml } from "./parse-eml.ts";
import { parseHtml } from "./parse-html.ts";

const maxDepth = 10;
const partsMost = 1000;
// MAPI properties (MS-OXPROPS) of a message.
const [subject, body, html, sentAt, receivedAt] = ["0037", "1000", "1013", "0039", "0E06"];
const [senderName, senderAddress, senderSmtp] = ["0C1A", "0C1F", "5D01"];
const [name, address, smtp, recipientType] = ["3001", "3003", "39FE", "0C15"];
const [fileName, shortName, mimeType, content] = ["3707", "3704", "370E", "3701"];
const [codePage, htmlCodePage, locale] = ["3FFD", "3FDE", "3FF1"];
const [unicode, oneByte, binary, time] = ["001F", "001E", "0102", "0040"];

/** Parses an Outlook message: sender, recipients, date, text and attachments. Attached messages are parsed too. */
export async function parseMsg(bytes: Uint8Array, outline: Outline): Promise<void> {
  let parts = 0;
  await message(openCompoundFile(bytes), 32, 0);

  async function message(storage: Storage, head: number, depth: number): Promise<void> {
    count(depth);
    const of = propertiesOf(storage, head);
    const encoding = encodingOf(of.number(codePage) ?? codePageOf(of.number(locale) ?? 0));
    const text = (id: string) => of.text(id, encoding);
    outline.heading(Math.min(6, depth + 1), text(subject));
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
    const plain = text(body);
    if (plain.trim() !== "") outline.block(plain);
    else page(of.bytes(html), of.text(html, encoding), of.number(htmlCodePage));
    for (const each of of.all("__attach")) await attachment(each, encoding, depth + 1);
  }

  /** Outputs an attachment: its text if it has one, otherwise its name. */
  async function attachment(storage: Storage, encoding: string, depth: number): Promise<void> {
    count(depth);
    const of = propertiesOf(storage, 8);
    const called = of.text(fileName, encoding) || of.text(shortName, encoding) || of.text(name, encoding);
    if (called !== "") outline.block(`Attachment: ${called}`);
    const inner = storage.storages.get(`__substg1.0_${content}000D`);
    if (inner) {
      await message(inner, 24, depth);
      return;
    }
    const type = of.text(mimeType, encoding).toLowerCase();
    const kind = /\.(\w+)$/.exec(called)?.[1]?.toLowerCase() ?? "";
    const isHtml = type === "text/html" || /^html?$/.test(kind);
    const isText = type.startsWith("text/") || /^(?:txt|md|csv|log)$/.test(kind);
    const isEml = type === "message/rfc822" || kind === "eml";
    if (!isHtml && !isText && !isEml) return;
    const data = of.bytes(content);
    if (data.length === 0) return;
    if (isEml) (await readEml(data))(outline);
    else if (isHtml) parseHtml(data, outline);
    else outline.block(decodeText(data));
  }

  function page(data: Uint8Array, text: string, htmlPage: number | null): void {
    const source = text || (htmlPage === null ? "" : decodeAs(encodingOf(htmlPage), data));
    const marked = source === "" ? data : new TextEncoder().encode(`\ufeff${source}`);
    if (marked.length > 0) parseHtml(marked, outline);
  }

  function count(depth: number): void {
    if (depth > maxDepth || ++parts > partsMost) throw unreadable("It nests too deep, or has too many parts.");
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
