import { expect, test } from "bun:test";
import fc from "fast-check";
import { readBoundary, readMultipart } from "./multipart.ts";

interface Part {
  name: string;
  filename: string | null;
  text: string;
}

async function* pieces(body: Uint8Array, size: number): AsyncGenerator<Uint8Array, void> {
  for (let from = 0; from < body.length; from += size) yield body.subarray(from, from + size);
}

async function partsOf(body: Uint8Array | string, boundary: string, size = 1000): Promise<Part[]> {
  const parts: (Part & { bytes: Buffer[] })[] = [];
  for await (const item of readMultipart(pieces(Buffer.from(body as string, "latin1"), size), boundary)) {
    if ("head" in item) parts.push({ ...item.head, text: "", bytes: [] });
    else parts.at(-1)!.bytes.push(Buffer.from(item.data));
  }
  return parts.map(({ bytes, ...part }) => ({ ...part, text: Buffer.concat(bytes).toString("latin1") }));
}

const part = (head: string, text = "x") => `--b\r\n${head}\r\n\r\n${text}\r\n`;
const named = (name: string) => `Content-Disposition: form-data; name="${name}"`;

test("everything that the platform writes is read unchanged, however it is split into chunks", async () => {
  const piece = fc.constantFrom("\r", "\n", "-", "--", "\r\n--", "b", "x", "\0", "é", "\r\n--b", "--b--\r\n");
  const content = fc.array(piece, { maxLength: 12 }).map((all) => all.join(""));
  // The platform writes a line break as `%0A` and leaves a `%` unchanged, so a reader cannot tell the two apart (HTML
  // standard, "multipart/form-data encoding algorithm").
  const name = fc.string({ minLength: 1, maxLength: 12 }).filter((text) => !/\\|%(0A|0D|22)/i.test(text));
  const files = fc.array(fc.record({ name, filename: fc.option(name), content }), { maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(files, fc.integer({ min: 1, max: 40 }), async (files, size) => {
      const form = new FormData();
      for (const { name, filename, content } of files)
        if (filename === null) form.append(name, content);
        else form.append(name, new Blob([content]), filename);
      const response = new Response(form);
      const boundary = readBoundary(response.headers.get("content-type")!);
      if (files.length === 0) return;
      const read = await partsOf(
        await response.bytes().then((bytes) => Buffer.from(bytes).toString("latin1")),
        boundary,
        size,
      );
      // The platform changes the line breaks of fields, but not of files.
      const written = ({ filename, content }: (typeof files)[number]) =>
        filename === null ? content.replace(/\r\n|\r|\n/g, "\r\n") : content;
      expect(read.map(({ filename, text }) => [filename, Buffer.from(text, "latin1").toString()])).toEqual(
        files.map((file) => [file.filename, written(file)]),
      );
    }),
    { numRuns: 200 },
  );
});

test.each<[string, Partial<Part>]>([
  [`${named("file")}; filename="a b.txt"`, { name: "file", filename: "a b.txt" }],
  [`${named("file")}; filename=plain.txt`, { filename: "plain.txt" }],
  [`${named("file")}; filename="a\\"b\\\\c\\d"`, { filename: 'a"b\\c\\d' }],
  [`${named("file")}; filename="a%22%0D%0Ab%20"`, { filename: 'a"\r\nb%20' }],
  [`${named("file")}; filename="x"; filename*=UTF-8''na%C3%AFve.txt`, { filename: "naïve.txt" }],
  [`content-disposition:form-data ;name=x`, { name: "x", filename: null }],
  [`Content-Type: text/plain\r\n${named("x")}\r\nContent-Transfer-Encoding: binary`, { name: "x" }],
])("a part with the header %j is understood", async (head, expected) => {
  expect(await partsOf(`${part(head)}--b--\r\n`, "b")).toMatchObject([{ ...expected, text: "x" }]);
});

test.each([
  ["nothing", ""],
  ["another boundary", part(named("x")).replace("--b", "--c")],
  ["text before the first boundary", `Hello\r\n${part(named("x"))}--b--`],
  ["no last boundary", part(named("x"))],
  ["half a boundary", `${part(named("x"))}--`],
  ["half of the last boundary", `${part(named("x"))}--b-`],
  ["something after a boundary", `${part(named("x"))}--bc\r\n${named("y")}\r\n\r\n\r\n--b--`],
  ["something after its end", `${part(named("x"))}--b--\r\n${part(named("y"))}`],
  ["more and more line ends after its end", `${part(named("x"))}--b--${"\r\n".repeat(5000)}`],
  ["headers without an end", `--b\r\n${"a: b\r\n".repeat(5000)}`],
  ["one endless header", `--b\r\n${"a".repeat(10_000)}`],
  ["long headers that end", `--b\r\n${named("x")}\r\nx: ${"a".repeat(9000)}\r\n\r\n\r\n--b--`],
  ["a header that is none", part("hello")],
  ["no headers", `--b\r\n\r\nx\r\n--b--`],
  ["a part without a name", `${part("Content-Disposition: form-data")}--b--`],
  ["an attachment", `${part('Content-Disposition: attachment; name="x"')}--b--`],
  ["two names", `${part(`${named("x")}; name="y"`)}--b--`],
  ["a name that does not end", `${part('Content-Disposition: form-data; name="x')}--b--`],
  ["two dispositions", `${part(`${named("x")}\r\n${named("y")}`)}--b--`],
  ["a part in base64", `${part(`${named("x")}\r\nContent-Transfer-Encoding: base64`)}--b--`],
  ["a name that is not UTF-8", `${part(named("\xff"))}--b--`],
  ["a file name that is not UTF-8", `${part(`${named("x")}; filename*=UTF-8''%ff`)}--b--`],
])("a body with %s is refused, however it is split", async (_, body) => {
  for (const size of [1, 7, 100_000])
    expect(partsOf(body, "b", size)).rejects.toThrow("The body is not multipart/form-data: ");
});

test("a reader that stops early stops the sender", async () => {
  let sent = 0;
  let stopped = false;
  async function* endless(): AsyncGenerator<Uint8Array, void> {
    try {
      yield Buffer.from(`--b\r\n${named("x")}\r\n\r\n`);
      for (; ; sent += 1000) yield new Uint8Array(1000);
    } finally {
      stopped = true;
    }
  }
  let read = 0;
  for await (const item of readMultipart(endless(), "b")) {
    if ("data" in item) read += item.data.length;
    expect(sent - read).toBeLessThan(3000);
    if (read > 10_000) break;
  }
  expect([stopped, sent < 14_000]).toEqual([true, true]);
});

test.each([
  "multipart/form-data",
  "multipart/form-data; boundary=",
  'multipart/form-data; boundary=""',
  `multipart/form-data; boundary=${"b".repeat(71)}`,
  "multipart/form-data; boundary=a b",
  'multipart/form-data; boundary="a\nb"',
  "multipart/form-data; boundary=a; boundary=b",
])("%j has no boundary", (type) => {
  expect(() => readBoundary(type)).toThrow("boundary");
});

test("a boundary is accepted in the ways that clients write it", () => {
  expect(readBoundary("multipart/form-data; boundary=----WebKitFormBoundary7MA4YWxkTrZu0gW")).toBe(
    "----WebKitFormBoundary7MA4YWxkTrZu0gW",
  );
  expect(readBoundary('Multipart/Form-Data;charset=utf-8;boundary="a b?c"')).toBe("a b?c");
});
