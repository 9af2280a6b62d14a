import { expect, test } from "bun:test";
import { pdfOf } from "../../testing/documents.ts";
import { messageOf, propertiesOf } from "../../testing/outlook-message.ts";
import { smimeMessages } from "../../testing/smime-messages.ts";
import { parse } from "./parse.ts";

const textOf = async (message: Uint8Array) =>
  (await parse(message, "application/vnd.ms-outlook")).sections.map(({ text }) => text).join("\n\n");
const recipient = (type: number, name: string, address: string) =>
  propertiesOf({ "0C15": type, "3001": name, "39FE": address }, 8);
const attachment = (name: string, content: Uint8Array | null, inner = {}) =>
  propertiesOf({ "3707": name, ...(content && { "3701": content }) }, 8, inner);
const utf8 = (text: string) => new TextEncoder().encode(text);
const warningsOf = async (message: Uint8Array) =>
  (await parse(message, "application/vnd.ms-outlook")).report.warnings.map((warning) => warning.message);

/** Returns compressed RTF (MS-OXRTFCP) of `head`, which stands in the window from the start, and a text. */
function packedRtf(text: string): Uint8Array {
  const reference = Buffer.from([0x00, 0x04]); // The six letters at the start of the window: "{\\rtf1".
  const units = [reference, ...[...text].map((letter) => Buffer.from(letter, "latin1"))];
  const end = (207 + 6 + text.length) % 4096;
  units.push(Buffer.from([end >> 4, (end & 15) << 4]));
  const runs: Buffer[] = [];
  for (let at = 0; at < units.length; at += 8) {
    const run = units.slice(at, at + 8);
    runs.push(Buffer.from([run.reduce((flags, unit, bit) => flags | (unit.length === 2 ? 1 << bit : 0), 0)]), ...run);
  }
  const packed = Buffer.concat(runs);
  const head = Buffer.alloc(16);
  head.writeUInt32LE(packed.length + 12);
  head.writeUInt32LE(6 + text.length, 4);
  head.write("LZFu", 8, "latin1");
  return new Uint8Array(Buffer.concat([head, packed]));
}

test("an Outlook message: sender, recipients, date, text, attachments and attached messages", async () => {
  const inner = propertiesOf({ "0037": "Inner", "1000": "The first one." }, 24);
  const message = messageOf(
    {
      "0037": "Straße 日本",
      "0C1A": "Ann",
      "5D01": "ann@x.test",
      "1000": `Hello\r\n${"long ".repeat(2000)}`,
      "0039": new Date("2026-11-21T12:00:00Z"),
    },
    {
      "__recip_version1.0_#00000000": recipient(1, "Bob", "bob@x.test"),
      "__recip_version1.0_#00000001": recipient(1, "eve@x.test", "eve@x.test"),
      "__recip_version1.0_#00000002": recipient(2, "Carl", "/o=Exchange/cn=carl"),
      "__attach_version1.0_#00000000": attachment("notes.txt", utf8("In the notes.")),
      "__attach_version1.0_#00000001": attachment("page.html", utf8("<h2>Page</h2><p>on it</p>")),
      "__attach_version1.0_#00000002": attachment("talk.ogg", utf8("OggS")),
      "__attach_version1.0_#00000003": attachment("Inner", null, { "__substg1.0_3701000D": inner }),
      "__attach_version1.0_#00000004": attachment("old.eml", utf8("Subject: Old\n\nAn old one.")),
    },
  );
  expect((await textOf(message)).replace(/(long ?)+/, "long ")).toBe(
    [
      "# Straße 日本",
      "From: Ann <ann@x.test>\nTo: Bob <bob@x.test>, eve@x.test\nCc: Carl\nDate: 2026-11-21T12:00:00.000Z",
      "Hello\nlong ",
      "## Attachment: notes.txt",
      "In the notes.",
      "## Attachment: page.html",
      "#### Page",
      "on it",
      "## Attachment: talk.ogg",
      "## Attachment: Inner",
      "### Inner",
      "The first one.",
      "## Attachment: old.eml",
      "### Old",
      "An old one.",
    ].join("\n\n"),
  );
});

test("HTML replaces a missing plain text, in the encoding that the message names", async () => {
  const page = new Uint8Array(Buffer.from("<p>caf\xe9</p>", "latin1"));
  expect(await textOf(messageOf({ "0037": "x", "1013": page, "3FDE": 28591 }))).toBe("# x\n\ncafé");
});

test("texts without Unicode use the encoding of the message, or that of its language", async () => {
  const japanese = new Uint8Array([0x93, 0xfa, 0x96, 0x7b]);
  const text = { "__substg1.0_1000001E": japanese };
  expect(await textOf(messageOf({ "3FFD": 932 }, text))).toBe("日本");
  expect(await textOf(messageOf({ "3FF1": 1041 }, text))).toBe("日本");
});

test("a message that is stored as compressed RTF alone has its text", async () => {
  const rtf = packedRtf("\\ansi The key hangs \\b behind\\b0  the counter.\\par}");
  expect(await textOf(messageOf({ "0037": "x", "1009": rtf }))).toBe("# x\n\nThe key hangs behind the counter.");
});

test("of a message's plain text and its HTML, the richer one is read", async () => {
  const html = utf8("<p>The warehouse key hangs behind the counter, number 4711.</p>");
  const stub = "This message is in HTML. Your program cannot show it.";
  expect(await textOf(messageOf({ "0037": "x", "1000": stub, "1013": html }))).toBe(
    "# x\n\nThe warehouse key hangs behind the counter, number 4711.",
  );
});

test("attachments of an Outlook message are read by their own readers, and what cannot be read is named", async () => {
  const message = messageOf(
    { "0037": "x", "1000": "Text" },
    {
      "__attach_version1.0_#00000000": attachment("report.pdf", pdfOf(["The mast is broken."])),
      "__attach_version1.0_#00000001": attachment("a.exe", utf8("\0\x01\x02")),
      "__attach_version1.0_#00000002": propertiesOf(
        { "3707": "logo.png", "3712": "logo@x", "3701": new Uint8Array(Buffer.from("\x89PNG\r\n\x1a\n", "latin1")) },
        8,
      ),
      "__attach_version1.0_#00000003": propertiesOf({ "3707": "Chart", "3705": 6 }, 8, {
        "__substg1.0_3701000D": { CONTENTS: utf8("x") },
      }),
    },
  );
  expect(await textOf(message)).toBe(
    "# x\n\nText\n\n## Attachment: report.pdf\n\nThe mast is broken.\n\n## Attachment: a.exe\n\n## Attachment: Chart",
  );
  expect(await warningsOf(message)).toEqual([
    "The attachment “a.exe” was not read: no text is read from files of this type.",
    "The attachment “Chart” was not read: it is empty.",
  ]);
});

test("an Outlook message that is signed with S/MIME is read, and an encrypted one says so", async () => {
  const sealed = (content: string) =>
    messageOf(
      { "0037": "x" },
      {
        "__attach_version1.0_#00000000": propertiesOf(
          {
            "3707": "smime.p7m",
            "370E": "application/pkcs7-mime",
            "3701": new Uint8Array(Buffer.from(content, "base64")),
          },
          8,
        ),
      },
    );
  expect(await textOf(sealed(smimeMessages.signed))).toContain("The boathouse key is under the mat.");
  expect(await warningsOf(sealed(smimeMessages.encrypted))).toEqual([
    "The attachment “smime.p7m” was not read: it is encrypted with S/MIME.",
  ]);
  const clear = utf8(
    'Content-Type: multipart/signed; boundary="b"\n\n--b\n\nThe key is here.\n--b\nContent-Type: application/pkcs7-signature\n\nx\n--b--',
  );
  const part = propertiesOf({ "3707": "smime.p7m", "370E": "multipart/signed", "3701": clear }, 8);
  expect(await textOf(messageOf({ "0037": "x" }, { "__attach_version1.0_#00000000": part }))).toContain(
    "The key is here.",
  );
});
