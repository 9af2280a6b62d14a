import { expect, test } from "bun:test";
import { docxOf, pdfOf, xlsxOf } from "../../testing/documents.ts";
import { smimeMessages } from "../../testing/smime-messages.ts";
import { tnefOf } from "../../testing/tnef-file.ts";
import { attachmentBounds } from "./bounds.ts";
import { PartOcrRequired, PdfRequired } from "./document-error.ts";
import { parse } from "./parse.ts";
import type { ParseOptions } from "./parse-options.ts";

const latin1 = (text: string) => new Uint8Array(Buffer.from(text, "latin1"));
const read = async (mail: string | Uint8Array, options: Partial<ParseOptions> = {}) => {
  const bytes = typeof mail === "string" ? latin1(mail) : mail;
  const { sections, report } = await parse(bytes, "message/rfc822", options);
  const warnings = report.warnings.map(({ code, message }) => `${code}: ${message}`);
  return { text: sections.map(({ text }) => text).join("\n\n"), sections, warnings, encoding: report.encoding };
};
const textOf = async (mail: string | Uint8Array) => (await read(mail)).text;
const utf8 = (text: string) => Buffer.from(text).toString("latin1");
const base64 = (content: Uint8Array | string) => Buffer.from(content).toString("base64").replace(/.{76}/g, "$&\n");

let boundaries = 0;
const multipart = (kind: string, ...parts: string[]) => {
  const boundary = `b${++boundaries}.`;
  const text = parts.map((part) => `--${boundary}\n${part}\n`).join("");
  return `Subject: x\nContent-Type: multipart/${kind}; boundary="${boundary}"\n\n${text}--${boundary}--\n`;
};
const plain = (text: string) => `Content-Type: text/plain; charset=utf-8\n\n${text}`;
const html = (text: string) => `Content-Type: text/html; charset=utf-8\n\n${text}`;
const file = (name: string, content: Uint8Array | string, type = "application/octet-stream") =>
  `Content-Type: ${type}\nContent-Disposition: attachment; filename="${name}"\nContent-Transfer-Encoding: base64\n\n${base64(content)}`;

test.each<[string, string, string]>([
  ["UTF-7", "charset=utf-7\n\nGr+APwA3w-e, 1 +- 1", "Grüße, 1 + 1"],
  ["HZ", "charset=hz-gb-2312\n\nKey ~{2V?b~} here", "Key 仓库 here"],
  ["ISO-2022-KR", "charset=iso-2022-kr\n\n\x1b$)C\x0eGQ1[\x0f ok", "한글 ok"],
  ["ISO-2022-JP that nobody declares", "format=fixed\n\n\x1b$B$9$_\x1b(B", "すみ"],
  ["the name of a code page", "charset=cp932\n\n\x93\xfa\x96\x7b", "日本"],
  ["a name with an x", 'charset="x-sjis"\n\n\x93\xfa\x96\x7b', "日本"],
  ["a name in another spelling", "charset=ISO8859_2\n\n\xb3\xf3d\xbc", "łódź"],
  ["UTF-8 that is declared as Latin", `charset=iso-8859-1\n\n${utf8("Grüße")}`, "Grüße"],
  ["UTF-8 that is declared as Chinese", `charset=gb2312\n\n${utf8("你好！我公司可代开")}`, "你好！我公司可代开"],
  ["characters beyond GB2312", "charset=gb2312\n\n\x95\x83\xa0\x46", "晝燜"],
  ["UTF-16 without a mark", "charset=utf-16\nContent-Transfer-Encoding: base64\n\nAGsAZQB5ACAANAA3", "key 47"],
  ["ASCII that is declared as UTF-16", "charset=utf-16\n\nkey 4711", "key 4711"],
  ["an unknown encoding with UTF-8", `charset=x-unknown\n\n${utf8("Grüße")}`, "Grüße"],
])("the text of a mail is read in %s", async (_, mail, text) => {
  expect(await textOf(`Subject: x\nContent-Type: text/plain; ${mail}`)).toBe(`# x\n\n${text}`);
});

test("the encoding that an upload names is that of its texts, also one of DOS", async () => {
  const found = await read("Subject: x\n\nM\x81ller", { encoding: "ibm850" });
  expect(found).toMatchObject({ text: "# x\n\nMüller", encoding: "ibm850", warnings: [] });
});

test("a mail reports the encoding of its first text, and says where it was guessed or has errors", async () => {
  expect(await read("Subject: x\nContent-Type: text/plain; charset=koi8-r\n\n\xeb\xcc\xc0\xde")).toMatchObject({
    text: "# x\n\nКлюч",
    encoding: "koi8-r",
    warnings: [],
  });
  const guess = multipart(
    "mixed",
    "Content-Type: text/plain; charset=koi8-r\n\n\xeb\xcc\xc0\xde",
    "\n\xeb\xcc\xc0\xde",
  );
  expect(await read(guess)).toMatchObject({
    text: "# x\n\nКлюч\n\nКлюч",
    warnings: [expect.stringMatching(/^encoding_guessed: .* koi8-r/)],
  });
  const broken = `charset=shift_jis\n\n${"\x93\xfa\x96\x7b".repeat(30)}\x81`;
  expect((await read(`Subject: x\nContent-Type: text/plain; ${broken}`)).warnings).toEqual([
    expect.stringMatching(/^encoding_errors: .* shift_jis/),
  ]);
});

test("the encoding that the upload names wins over the one that a mail declares", async () => {
  const mail = "Subject: \xeb\xcc\xc0\xde\nContent-Type: text/plain; charset=windows-1251\n\n\xeb\xcc\xc0\xde";
  expect((await read(mail, { encoding: "koi8-r" })).text).toBe("# Ключ\n\nКлюч");
});

test.each<[string, string, string]>([
  ["split within a character", "=?utf-8?B?QsM=?= =?utf-8?B?vHJv?=", "Büro"],
  ["split within a character of Japanese", "=?ISO-2022-JP?B?GyRCMnE=?=\n =?ISO-2022-JP?B?NUQbKEI=?=", "会議"],
  ["in UTF-8 that is declared as ASCII", "=?us-ascii?Q?B=C3=BCro?=", "Büro"],
  ["with spaces as underscores and between them", "=?utf-8?Q?a_b?= c =?utf-8?Q?d?=  =?utf-8?Q?e?=", "a b c de"],
  ["with a language, and spaces that should not be there", "=?utf-8*de?Q?B=C3=BCro im Hof?=", "Büro im Hof"],
  ["in HZ", "=?hz-gb-2312?Q?~{2V=3Fb~}?=", "仓库"],
  ["in an unknown encoding", "=?x-none?Q?B=FCro?=", "Büro"],
])("encoded words of a header are read: %s", async (_, subject, text) => {
  expect(await textOf(`Subject: ${subject}\n\nText`)).toBe(`# ${text}\n\nText`);
});

test("headers with raw bytes are read in the encoding of the text, in parts too", async () => {
  const part = `Content-Type: text/plain\nContent-Disposition: attachment; filename="\xb2\xd6.txt"\n\nin it`;
  const mail = multipart("mixed", "Content-Type: text/plain; charset=gb2312\n\n\xd4\xbf\xb3\xd7", part);
  expect(await textOf(`From: \xb2\xd6 <a@x.test>\n${mail}`)).toBe(
    "# x\n\nFrom: 仓 <a@x.test>\n\n钥匙\n\n## Attachment: 仓.txt\n\nin it",
  );
});

test.each<[string, string | Uint8Array]>([
  ["empty lines", "\r\n\r\nSubject: x\n\nText"],
  ["a line of the mailbox", "From ann@x.test Mon Mar  2 10:00:00 2026\nSubject: x\n\nText"],
  ["a mark and UTF-16", new Uint8Array(Buffer.from("\ufeffSubject: x\n\nText", "utf16le"))],
])("a mail that begins with %s is read", async (_, mail) => {
  expect(await textOf(mail)).toBe("# x\n\nText");
});

test("a mail is read whose lines end as on old Macs, and one without an empty line before its text", async () => {
  expect(await textOf("Subject: x\r\rText")).toBe("# x\n\nText");
  expect(await textOf("Subject: x\nText without a line before it\n\nMore")).toContain("Text without a line before it");
  expect(await textOf(multipart("mixed", "Content-Type: text/plain\nOne\n", "Two\nlines"))).toBe(
    "# x\n\nOne\n\nTwo\nlines",
  );
});

test("a mail whose parts stand behind another boundary than it declares, or behind none, keeps its text", async () => {
  const parts = "--c\nContent-Type: text/plain\n\nOne\n--c\nContent-Type: text/html\n\n<p>Two</p>\n--c--\n";
  expect(await textOf(`Subject: x\nContent-Type: multipart/mixed; boundary=b\n\n${parts}`)).toBe("# x\n\nOne\n\nTwo");
  expect(await textOf("Subject: x\nContent-Type: multipart/mixed\n\nOnly text")).toBe("# x\n\nOnly text");
});

test("lines of flowed text are joined, and errors of quoted-printable and Base64 cost no word around them", async () => {
  const flowed = "Content-Type: text/plain; format=flowed; charset=utf-8\n\nOne line \nof text.\n\n-- \nAnn";
  expect(await textOf(`Subject: x\n${flowed}`)).toBe("# x\n\nOne line of text.\n\n-- \nAnn");
  const quoted = "Content-Transfer-Encoding: quoted-printable\n\n100 =% of =C3=BC, =\nend=";
  expect(await textOf(`Subject: x\n${quoted}`)).toBe("# x\n\n100 =% of ü, end");
  const coded = `Content-Transfer-Encoding: base64\n\n!!${base64("First ")}\n\n=*=${base64("second.")}--`;
  expect(await textOf(`Subject: x\n${coded}`)).toContain("First second.");
});

test.each<[declared: string, bytes: string, text: string]>([
  ["us-ascii", utf8("Größe;1\nä;2"), "Größe"],
  ["iso-8859-1", utf8("Größe;1\nä;2"), "Größe"],
  ["iso-8859-1", "Gr\xf6\xdfe;1\n\xe4;2", "Größe"],
  ["unknown-8bit", utf8("Größe;1\nä;2"), "Größe"],
  ["us-ascii", "\xd0\xd5\xc3\xfb;\xb2\xbf\xc3\xc5\n\xd5\xc5\xce\xb0;\xb2\xd6\xbf\xe2", "姓名"],
  ["utf-8", "\xd0\xd5\xc3\xfb;\xb2\xbf\xc3\xc5\n\xd5\xc5\xce\xb0;\xb2\xd6\xbf\xe2", "姓名"],
  ["utf-7", "Gr+APYA3w-e;1\n+AOQ-;2", "Größe"],
])("a table attached to a mail that declares %s is read as its bytes are: %j", async (declared, bytes, text) => {
  const table = file("a.csv", Buffer.from(bytes, "latin1"), `text/csv; charset=${declared}`);
  expect(await textOf(multipart("mixed", plain("x"), table))).toContain(`| ${text} |`);
});

test("the encoding that an upload names is that of attached texts too", async () => {
  const table = file("a.csv", Buffer.from("\xca\xeb\xfe\xf7;1\n\xe4;2", "latin1"), "text/csv; charset=iso-8859-1");
  const mail = multipart("mixed", plain("x"), table);
  expect((await read(mail, { encoding: "windows-1251" })).text).toContain("| Ключ |");
});

test("Base64 ends where lines of words follow, as mailing lists append them", async () => {
  const footer = "_______________________________________________\nAnglers mailing list\nAnglers@example.com";
  const coded = (text: string) => `Content-Type: text/plain\nContent-Transfer-Encoding: base64\n\n${text}`;
  for (const text of ["Key 4711", "Key 47112"])
    expect(await textOf(`Subject: x\n${coded(`${base64(text)}\n${footer}`)}`)).toBe(`# x\n\n${text}\n${footer}`);
  const parts = multipart("mixed", coded(`${base64("Key 4711")}\n-- \nAnn`), plain("Next"));
  expect(await textOf(parts)).toBe("# x\n\nKey 4711\n-- \nAnn\n\nNext");
  expect(await textOf(`Subject: x\n${coded("Hello, it is plain.\nSecond line")}`)).toBe(
    "# x\n\nHello, it is plain.\nSecond line",
  );
});

test("of two versions of a text, the plain one is read if it has the words of the other", async () => {
  const long = "The warehouse key hangs behind the counter, number 4711.";
  expect(await textOf(multipart("alternative", plain(long), html(`<p>${long}</p>`)))).toBe(`# x\n\n${long}`);
});

test("a plain text that only points to the HTML beside it is passed over, and HTML that points to the text too", async () => {
  const stub = "This message is in HTML. Your mail program cannot show it.";
  const full = "The warehouse key hangs behind the counter, number 4711.";
  expect(await textOf(multipart("alternative", plain(stub), html(`<p>${full}</p>`)))).toBe(`# x\n\n${full}`);
  const long = `${full} It is made of brass, opens both gates and belongs back on its hook at night.`;
  expect(await textOf(multipart("alternative", plain(long), html("<p>See the text.</p>")))).toBe(`# x\n\n${long}`);
});

test("HTML beside an invitation is read with the invitation, which is read once", async () => {
  const calendar = "BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:Audit\nEND:VEVENT\nEND:VCALENDAR\n";
  const invitation = `Content-Type: text/calendar; method=REQUEST; charset=utf-8\n\n${calendar}`;
  const versions = `Content-Type: multipart/alternative; boundary=c\n\n--c\n${html("<p>Bring the ledger.</p>")}\n--c\n${invitation}\n--c--`;
  const text = await textOf(multipart("mixed", versions, file("invite.ics", calendar, "application/ics")));
  expect(text).toStartWith("# x\n\nBring the ledger.\n\n## Attachment: invite.ics\n\n");
  expect(text.match(/Audit/g)).toHaveLength(1);
});

test("attachments inside versions of a text are read whichever version is chosen", async () => {
  const inner = `Content-Type: multipart/mixed; boundary=c\n\n--c\n${html("<p>Hello Bob</p>")}\n--c\n${file("a.txt", "in it")}\n--c\n${html("<p>Bye</p>")}\n--c--`;
  expect(await textOf(multipart("alternative", plain("Hello Bob\n\nBye"), inner))).toBe(
    "# x\n\nHello Bob\n\nBye\n\n## Attachment: a.txt\n\nin it",
  );
});

test("each attachment is read by the reader of its format under a heading with its name", async () => {
  const mail = multipart(
    "mixed",
    plain("See below."),
    file("plan.docx", docxOf([{ heading: "Plan", text: "Paint the boat." }]), "application/octet-stream"),
    file("costs.csv", "what,how much\npaint,40\n", "application/vnd.ms-excel"),
    file("report.pdf", pdfOf(["The mast is broken."]), "application/pdf"),
    file("", "<p>unnamed</p>", "text/html"),
    "Content-Type: text/plain\n\nAfter all.",
  );
  const { text, sections, warnings } = await read(mail);
  expect(text).toBe(
    [
      "# x",
      "See below.",
      "After all.",
      "## Attachment: plan.docx",
      "### Plan",
      "Paint the boat.",
      "## Attachment: costs.csv",
      "| what | how much |\n| --- | --- |\n| paint | 40 |",
      "## Attachment: report.pdf",
      "The mast is broken.",
      "## Attachment: text/html",
      "unnamed",
    ].join("\n\n"),
  );
  expect(warnings).toEqual([]);
  expect(sections).toContainEqual(expect.objectContaining({ heading: "x › Attachment: plan.docx › Plan", page: null }));
});

test("an attachment that cannot be read costs a warning with its name and the reason, and not the mail", async () => {
  const damaged = file("plan.docx", "PK\x03\x04 not really", "application/x");
  const mail = multipart("mixed", plain("Text"), damaged, file("a.exe", "\x00\x01\x02"), file("none.txt", ""));
  const { text, warnings } = await read(mail);
  expect(text).toBe("# x\n\nText\n\n## Attachment: plan.docx\n\n## Attachment: a.exe\n\n## Attachment: none.txt");
  expect(warnings).toEqual([
    expect.stringMatching(/^part_unreadable: The attachment “plan.docx” was not read: \w/),
    "part_unreadable: The attachment “a.exe” was not read: no text is read from files of this type.",
    "part_unreadable: The attachment “none.txt” was not read: it is empty.",
  ]);
});

test("a loss inside an attachment is reported with the attachment's name", async () => {
  const inner = multipart("mixed", plain("In it"), file("a.exe", "\x00\x01\x02"));
  expect((await read(multipart("mixed", plain("Text"), file("old.eml", inner)))).warnings).toEqual([
    expect.stringMatching(/^part_unreadable: old\.eml: The attachment “a\.exe” was not read/),
  ]);
});

test("attached messages are read with their attachments, as parts and as files", async () => {
  const inner = multipart("mixed", plain("In it"), file("a.txt", "deepest"));
  const mail = multipart("mixed", plain("Text"), `Content-Type: message/rfc822\n\n${inner}`, file("old.eml", inner));
  expect(await textOf(mail)).toBe(
    "# x\n\nText\n\n## x\n\nIn it\n\n### Attachment: a.txt\n\ndeepest\n\n## Attachment: old.eml\n\n### x\n\nIn it\n\n#### Attachment: a.txt\n\ndeepest",
  );
});

test("attachments have limits of depth, count and size over all messages inside a mail", async () => {
  const many = multipart(
    "mixed",
    ...Array.from({ length: attachmentBounds.count + 2 }, (_, at) => file(`${at}.txt`, "x")),
  );
  const { warnings, text } = await read(many);
  expect(text).toContain(`Attachment: ${attachmentBounds.count + 1}.txt`);
  expect(warnings).toHaveLength(2);
  let nested = multipart("mixed", file("deepest.txt", "deepest"));
  for (let depth = 0; depth <= attachmentBounds.depth; depth++)
    nested = multipart("mixed", plain(`${depth}`), file("n.eml", nested));
  const deep = await read(nested);
  expect(deep.text).not.toContain("deepest");
  expect(deep.warnings).toEqual([expect.stringContaining("it nests too deep")]);
});

test("a mail asks for the child that reads PDF, or images, only if it has one attached", async () => {
  const pdf = multipart("mixed", plain("Text"), file("a.pdf", pdfOf(["Page"])));
  const image = multipart("mixed", plain("Text"), file("a.png", latin1("\x89PNG\r\n\x1a\n")));
  const inline = multipart(
    "related",
    html('<p>Text</p><img src="cid:1" alt="Logo">'),
    `Content-ID: <1>\n${file("a.png", latin1("\x89PNG\r\n\x1a\n"), "image/png").replace("attachment", "inline")}`,
  );
  expect(read(pdf, { hasPdf: false })).rejects.toBeInstanceOf(PdfRequired);
  expect(read(image, { hasPdf: false })).rejects.toBeInstanceOf(PartOcrRequired);
  expect((await read(inline, { hasPdf: false })).warnings).toEqual([]);
});

test("pages of attached PDFs are not counted as pages of the mail, nor taken for those that OCR has read", async () => {
  const mail = multipart("mixed", plain("Text"), file("a.pdf", pdfOf(["One"])), file("b.pdf", pdfOf(["Two", "Three"])));
  const heard: unknown[] = [];
  const line = { text: "Of another document", box: null };
  const scans = { read: new Map([[1, [[line]]]]), left: [], lost: [] };
  const { text } = await read(mail, { scans, onPages: (...pages) => heard.push(pages) });
  expect([heard, text.includes(line.text)]).toEqual([[], false]);
  for (const word of ["One", "Two", "Three"]) expect(text).toContain(word);
});

test("text in an attached image is read, and an image without text is reported as one", async () => {
  const png = new Uint8Array(
    Buffer.from(
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
      "base64",
    ),
  );
  const mail = multipart("mixed", plain("Text"), file("scan.png", png));
  const scan = await read(mail, { ocr: () => [[{ text: "Minutes of May", box: [0, 0, 1, 1] }]] });
  expect(scan.text).toBe("# x\n\nText\n\n## Attachment: scan.png\n\nMinutes of May");
  expect((await read(mail, { ocr: () => [] })).warnings).toEqual([
    "image_without_text: No text was found in the attached image “scan.png”.",
  ]);
});

test("a mail whose attachments failed before is read with their names alone", async () => {
  const mail = multipart("mixed", plain("Text"), file("costs.xlsx", xlsxOf([])));
  expect(await read(mail, { attachments: false })).toMatchObject({
    text: "# x\n\nText\n\n## Attachment: costs.xlsx",
    warnings: [expect.stringContaining("“costs.xlsx” was not read")],
  });
});

test("signed mails are read without their signatures: S/MIME and PGP, beside the text, around it and in it", async () => {
  const beside = multipart("signed", plain("Text"), file("smime.p7s", "x", "application/pkcs7-signature"));
  expect(await read(beside)).toMatchObject({ text: "# x\n\nText", warnings: [] });
  const pgp = multipart("signed", plain("Text"), file("signature.asc", "x", "application/pgp-signature"));
  expect(await read(pgp)).toMatchObject({ text: "# x\n\nText", warnings: [] });
  const head = "Subject: x\nContent-Type: application/pkcs7-mime; smime-type=signed-data; name=smime.p7m";
  for (const sealed of [smimeMessages.signed, smimeMessages.streamed])
    expect(await textOf(`${head}\nContent-Transfer-Encoding: base64\n\n${sealed}`)).toBe(
      "# x\n\nThe boathouse key is under the mat.",
    );
  const inline =
    "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\nThe key\n- -- \nAnn\n-----BEGIN PGP SIGNATURE-----\n\niQE\n=ab\n-----END PGP SIGNATURE-----\n";
  expect(await textOf(`Subject: x\n\n${inline}`)).toBe("# x\n\nThe key\n-- \nAnn");
});

test("an encrypted mail says that its text was not read", async () => {
  const head = "Subject: x\nContent-Type: application/pkcs7-mime; smime-type=enveloped-data; name=smime.p7m";
  const smime = `${head}\nContent-Transfer-Encoding: base64\n\n${smimeMessages.encrypted}`;
  const pgp = multipart(
    "encrypted",
    "Content-Type: application/pgp-encrypted\n\nVersion: 1",
    file("encrypted.asc", "x"),
  );
  const inline = "Subject: x\n\n-----BEGIN PGP MESSAGE-----\n\nhQE\n=ab\n-----END PGP MESSAGE-----\n";
  for (const [mail, how] of [
    [smime, "S/MIME"],
    [pgp, "PGP"],
    [inline, "PGP"],
  ] as const)
    expect(await read(mail)).toMatchObject({
      text: "# x",
      warnings: [
        `part_unreadable: The text of the message is encrypted with ${how} and was not read. Decrypt it before you upload it.`,
      ],
    });
});

test("the parts that Outlook packs into winmail.dat are read: its text if there is no other, and its files", async () => {
  const packed = tnefOf({ html: "<p>The formatted text</p>", files: { "Grüße an alle.txt": latin1("in the file") } });
  const attached = file("winmail.dat", packed, "application/ms-tnef");
  expect(await textOf(multipart("mixed", attached))).toBe(
    "# x\n\nThe formatted text\n\n## Attachment: Grüße an alle.txt\n\nin the file",
  );
});

test("files that are written into the text by uuencode are attachments", async () => {
  const text = "Before\n\nbegin 644 note.txt\n/22!A;2!A('-H;W)T(&YO\n$=&4N\"@``\n`\nend\n\nAfter\nbegin at once";
  expect(await textOf(`Subject: x\n\n${text}`)).toMatch(
    /^# x\n\nBefore\n+After\nbegin at once\n\n## Attachment: note\.txt\n\nI am a short/,
  );
});

test("tables that only place the parts of a message are no tables of its text", async () => {
  const cell = "<table><tr><td>Item</td><td>Price</td></tr><tr><td>Paint</td><td>40</td></tr></table>";
  const page = `<table role="presentation"><tr><td><h1>Order</h1><p>Thank you.</p></td></tr><tr><td>${cell}</td></tr></table>`;
  expect(await textOf(`Subject: x\n${html(page)}`)).toBe(
    "# x\n\n## Order\n\nThank you.\n\n| Item | Price |\n| --- | --- |\n| Paint | 40 |",
  );
});

test("a mail without a text has its headers, and enriched text is read without its commands", async () => {
  expect(await textOf("Subject: x\nTo: b@x.test\n\n")).toBe("# x\n\nTo: b@x.test");
  const rich =
    "Content-Type: text/enriched\n\n<bold>Keys</bold> are\nhere.\n\n<color><param>red</param>Now</color> << 5";
  expect(await textOf(`Subject: x\n${rich}`)).toBe("# x\n\nKeys are here.\nNow < 5");
});
