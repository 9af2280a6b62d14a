import { expect, test } from "bun:test";
import { messageOf, propertiesOf } from "../../testing/outlook-message.ts";
import { parse } from "./parse.ts";

const textOf = async (message: Uint8Array) =>
  (await parse(message, "application/vnd.ms-outlook")).sections.map(({ text }) => text).join("\n\n");
const recipient = (type: number, name: string, address: string) =>
  propertiesOf({ "0C15": type, "3001": name, "39FE": address }, 8);
const attachment = (name: string, content: Uint8Array | null, inner = {}) =>
  propertiesOf({ "3707": name, ...(content && { "3701": content }) }, 8, inner);
const utf8 = (text: string) => new TextEncoder().encode(text);

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
      "__attach_version1.0_#00000002": attachment("photo.png", utf8("\x89PNG")),
      "__attach_version1.0_#00000003": attachment("Inner", null, { "__substg1.0_3701000D": inner }),
      "__attach_version1.0_#00000004": attachment("old.eml", utf8("Subject: Old\n\nAn old one.")),
    },
  );
  expect((await textOf(message)).replace(/(long ?)+/, "long ")).toBe(
    [
      "# Straße 日本",
      "From: Ann <ann@x.test>\nTo: Bob <bob@x.test>, eve@x.test\nCc: Carl\nDate: 2026-11-21T12:00:00.000Z",
      "Hello\nlong ",
      "Attachment: notes.txt",
      "In the notes.",
      "Attachment: page.html",
      "## Page",
      "on it",
      "Attachment: photo.png",
      "Attachment: Inner",
      "## Inner",
      "The first one.",
      "Attachment: old.eml",
      "# Old",
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
