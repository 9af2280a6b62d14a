import { describe, expect, test } from "bun:test";
import { readResult } from "./read-result.ts";

const png = Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), Buffer.alloc(196_000, 7)]);
const base64 = png.toString("base64");
const note = "[image image/png, 191 KB, kept as image-1.png]";
const noise = Buffer.from(Array.from({ length: 9000 }, (_, at) => (at * 7919 + (at >> 3)) & 255)).toString("base64");

describe("an image in data becomes a file with a note in its place,", () => {
  test.each<[string, unknown, unknown]>([
    [
      "as content of the protocol",
      { result: { type: "image", mimeType: "image/png", data: base64 } },
      { result: { type: "image", mimeType: "image/png", data: note } },
    ],
    ["as a text alone", { a: [{ picture: base64 }] }, { a: [{ picture: note }] }],
    ["as an address of data", { src: `data:image/png;base64,${base64}` }, { src: note }],
    ["beside its media type", { mime_type: "image/png", bytes: base64 }, { mime_type: "image/png", bytes: note }],
  ])("%s", (_, structuredContent, expected) => {
    const { structured, files } = readResult({ structuredContent, content: [] });
    expect(structured).toEqual(expected);
    expect(files).toEqual([{ name: "image-1.png", bytes: new Uint8Array(png) }]);
  });
});

test("other bytes in data become files too: known types, and base64 longer than any word", () => {
  const pdf = Buffer.concat([Buffer.from("%PDF-1.7"), Buffer.alloc(2000, 65)]).toString("base64");
  const { structured, files } = readResult({ structuredContent: { pdf, noise }, content: [] });
  expect(structured).toEqual({
    pdf: "[file application/pdf, 2 KB, kept as file-1.pdf]",
    noise: "[file, 9 KB, kept as file-2.bin]",
  });
  expect(files!.map(({ name }) => name)).toEqual(["file-1.pdf", "file-2.bin"]);
});

test("text that a model can read is unchanged, however long", () => {
  const structuredContent = {
    text: "A word after another. ".repeat(1000),
    digits: "0123456789abcdef".repeat(1000),
    gene: "GATTACA".repeat(2000),
    id: noise.slice(0, 1000),
    list: [1, null, true, "iVBORw0KGgo"],
  };
  const { structured, files } = readResult({ structuredContent, content: [] });
  expect(structured).toEqual(structuredContent);
  expect(files).toBeUndefined();
});

test("images that are in the data and beside it are stored once", () => {
  const image = { type: "image", mimeType: "image/png", data: base64 };
  const { structured, files } = readResult({ structuredContent: { image }, content: [image] });
  expect(structured).toEqual({ image: { ...image, data: note } });
  expect(files).toHaveLength(1);
});

test("audio and files are stored up to a limit, and invalid base64 is left out", () => {
  const content = [
    { type: "audio", mimeType: "audio/wav", data: "AAAA" },
    { type: "resource", resource: { uri: "file:///a.csv", mimeType: "text/csv", blob: "YSxiCg==" } },
    { type: "image", mimeType: "image/png", data: "not base64!" },
    ...Array.from({ length: 20 }, () => ({ type: "image", mimeType: "image/png", data: "AAAA" })),
  ];
  const { text, files } = readResult({ content });
  expect(text.split("\n").slice(0, 4)).toEqual([
    "[audio audio/wav, 3 bytes, kept as audio-1.wav]",
    "[file text/csv, 4 bytes, kept as file-2.csv]",
    "[image image/png, 8 bytes left out]",
    "[image image/png, 3 bytes, kept as image-3.png]",
  ]);
  expect(files).toHaveLength(16);
  expect(text.split("\n").at(-1)).toBe("[image image/png, 3 bytes left out]");
  expect(Buffer.from(files![1]!.bytes).toString()).toBe("a,b\n");
});

test.each([
  ["an empty object", {}],
  ["an object of nothing", { result: null }],
])("text beside %s is read", (_, structuredContent) => {
  const content = [{ type: "text", text: "42 °C" }];
  expect(readResult({ content, structuredContent })).toEqual({ text: "42 °C", isError: false });
});

test("an empty object without text is the result", () => {
  expect(readResult({ content: [], structuredContent: {} })).toEqual({ structured: {}, text: "", isError: false });
});
