import { expect, test } from "bun:test";
import { parse } from "./parse.ts";

const textOf = async (lines: readonly string[]) => {
  const bytes = new Uint8Array(Buffer.from(lines.join("\r\n"), "latin1"));
  return (await parse(bytes, "multipart/related")).sections.map(({ text }) => text).join("\n\n");
};
const head = ["From: <Saved by Blink>", "Subject: =?utf-8?Q?B=C3=BCcher?=", "MIME-Version: 1.0"];
const quoted = "Content-Transfer-Encoding: quoted-printable";

test("a saved web page has the text of its page, then of its frames, and nothing of images and styles", async () => {
  const text = await textOf([
    ...head,
    'Content-Type: multipart/related; type="text/html"; boundary="b"; start="<2@x>"',
    "",
    "--b",
    "Content-Type: text/css",
    "",
    "p { color: red }",
    "--b",
    "Content-Type: text/html; charset=utf-8",
    "Content-ID: <1@x>",
    quoted,
    "",
    "<p>The frame=",
    " of it</p>",
    "--b",
    "Content-Type: text/html",
    "Content-ID: <2@x>",
    quoted,
    "",
    "<title>Page</title><p>Der Schl=C3=BCssel</p>",
    "--b",
    "Content-Type: image/png",
    "Content-Transfer-Encoding: base64",
    "",
    "iVBORw0KGgo=",
    "--b--",
  ]);
  expect(text).toBe("# Page\n\nDer Schlüssel\n\nThe frame of it");
});

test("a saved web page in one part is read, in the encoding that only its head declares", async () => {
  const type = "Content-Type: text/html; charset=windows-1251";
  expect(await textOf([...head, type, "", "<p>\xca\xeb\xfe\xf7</p>"])).toBe("Ключ");
});

test("a file without a page is refused", async () => {
  const image = ["Content-Type: multipart/related; boundary=b", "", "--b", "Content-Type: image/png", "", "x", "--b--"];
  expect(textOf(image)).rejects.toThrow("It is not a saved web page.");
});
