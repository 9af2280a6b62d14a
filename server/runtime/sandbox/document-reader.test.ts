import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { defaultChunking } from "../../domain/chunking.ts";
import { docxOf, pdfFrom, pdfOf, streamOf } from "../../testing/documents.ts";
import { drawnPages, pixelsOf } from "../../testing/drawn-pages.ts";
import { mimeTypes } from "../../testing/hostile-documents/hostile-document.ts";
import { hostileImages } from "../../testing/hostile-documents/images.ts";
import { mailWith } from "../../testing/hostile-documents/mail-parts.ts";
import { hostileDocuments } from "../../testing/hostile-documents.ts";
import { openDrawer } from "../documents/draw-pages.ts";
import { performWithRestart, startChild } from "./child-process.ts";
import { createDocumentReader, type DocumentOrder, type DocumentReader } from "./document-reader.ts";
import { documentTask, scannedPartsTask, scannedTask } from "./document-task.ts";
import { encodePacket, packetKinds } from "./packet.ts";
import { type ScanEnd, scanTask } from "./scan-task.ts";

// Ends a hang only: children have the lowest priority, and reading a scan takes them seconds of it.
setDefaultTimeout(180_000);

const reader = createDocumentReader({ level: () => "strict" });
afterAll(() => reader.stop());

const never = new AbortController().signal;
const utf8 = (text: string) => new TextEncoder().encode(text);

function* pieces(bytes: Uint8Array, size = 256 * 1024): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
const order = (bytes: Uint8Array, mime_type: string = mimeTypes.txt): DocumentOrder => ({
  mime_type,
  bytes: bytes.length,
  content: { [Symbol.iterator]: () => pieces(bytes) },
  chunking: defaultChunking,
  encoding: null,
  include_hidden: false,
});
const read = (bytes: Uint8Array, mime_type?: string, from: DocumentReader = reader) =>
  from.read(order(bytes, mime_type), never);
const codeOf = (outcome: Awaited<ReturnType<typeof read>>) => ("error" in outcome ? outcome.error.code : "text");

const childCount = () =>
  readdirSync(`/proc/${process.pid}/task`)
    .flatMap((thread) => readFileSync(`/proc/${process.pid}/task/${thread}/children`, "latin1").split(/\s+/))
    .filter(Boolean).length;

describe("a document", () => {
  test("is read in a jailed child, into chunks with page and heading", async () => {
    expect(await read(pdfOf(["# One\nfirst", "second"]), mimeTypes.pdf)).toEqual({
      chunks: [
        { text: "# One\n\nfirst", tokens: expect.any(Number), page: 1, heading: "One", boxes: expect.any(Array) },
        { text: "second", tokens: 1, page: 2, heading: "One", boxes: expect.any(Array) },
      ],
      pages: 2,
      report: { characters: "# One".length + "first".length + "second".length, encoding: null, warnings: [] },
    });
    expect(await read(docxOf([{ heading: "A", text: "漢字 שלום 😀" }]), mimeTypes.docx)).toMatchObject({
      chunks: [{ text: "# A\n\n漢字 שלום 😀", page: null, heading: "A" }],
      pages: null,
    });
  });

  test("in an encoding of its own is read in the jail, and its report says which one was guessed", async () => {
    const gbk = Buffer.from("d0d5c3fb2cb2bfc3c50ad5c5ceb02cb2d6bfe20ac0eec4c82cc7b0cca80a", "hex");
    expect(await read(gbk, "text/csv")).toMatchObject({
      chunks: [{ text: "| 姓名 | 部门 |\n| --- | --- |\n| 张伟 | 仓库 |\n| 李娜 | 前台 |" }],
      report: { encoding: "gb18030", warnings: [{ code: "encoding_guessed" }] },
    });
  });

  test("in a font that names the map of its encoding is read with what the child took into the jail", async () => {
    const file = new URL("../../testing/sample-documents/reportlab-mixed.pdf", import.meta.url);
    expect(await read(new Uint8Array(readFileSync(file)), mimeTypes.pdf)).toMatchObject({
      chunks: [{ text: "Warehouse handbook, version 7\n\n仓库的钥匙在前台。", page: 1 }],
      report: { warnings: [] },
    });
  });

  test("of 6 MB is streamed in pieces, and returned completely", async () => {
    const line = "The quick brown fox jumps over the lazy dog, again and again.\n";
    let taken = 0;
    function* content() {
      for (let at = 0; at < 100; at++) {
        taken++;
        yield utf8(line.repeat(1000));
      }
    }
    const bytes = 100 * 1000 * line.length; // More than fits into a message of the child.
    const chunking = { max_chunk_size_tokens: 4000, chunk_overlap_tokens: 0 };
    const outcome = await reader.read({ ...order(new Uint8Array()), bytes, content: content(), chunking }, never);
    if ("error" in outcome) throw new Error(outcome.error.message);
    expect(outcome.chunks.reduce((sum, { text }) => sum + text.split("\n").length, 0)).toBe(100_000);
    expect(taken).toBe(100);
  });

  test("that is unreadable has a clear error code", async () => {
    expect(codeOf(await read(utf8("<p>no PDF</p>"), mimeTypes.pdf))).toBe("document_unreadable");
    expect(codeOf(await read(utf8("  \n"), mimeTypes.md))).toBe("document_empty");
    expect(codeOf(await read(utf8("x"), "image/png"))).toBe("document_unreadable");
    expect(codeOf(await read(utf8("x"), "image/tiff"))).toBe("document_unreadable");
    expect(codeOf(await read(new Uint8Array()))).toBe("document_empty");
  });

  test("that is too large is rejected without reading its content", async () => {
    const content = {
      [Symbol.iterator]: (): Iterator<Uint8Array> => {
        throw new Error("asked");
      },
    };
    const large = { ...order(utf8("x")), bytes: 100 * 2 ** 20 + 1, content };
    expect(codeOf(await reader.read(large, never))).toBe("document_too_large");
  });

  test("whose content fails, or is shorter than announced, is a fault of the server", async () => {
    const broken = {
      *[Symbol.iterator](): Generator<Uint8Array> {
        yield utf8("x");
        throw new Error("the disk is gone");
      },
    };
    expect(await reader.read({ ...order(utf8("x")), bytes: 10, content: broken }, never)).toMatchObject({
      error: { code: "sandbox_failed", message: expect.stringContaining("the disk is gone") },
    });
    expect(codeOf(await reader.read({ ...order(utf8("x")), bytes: 10 }, never))).toBe("sandbox_failed");
  });

  test("is abandoned and its content closed when the caller aborts", async () => {
    const caller = new AbortController();
    const closed = Promise.withResolvers<void>();
    function* content(): Generator<Uint8Array> {
      try {
        for (;;) {
          yield new Uint8Array(2 ** 20);
          caller.abort(new Error("left"));
        }
      } finally {
        closed.resolve();
      }
    }
    const outcome = reader.read({ ...order(utf8("x")), bytes: 90 * 2 ** 20, content: content() }, caller.signal);
    expect(await outcome.catch((error: Error) => error.message)).toBe("left");
    await closed.promise;
  });
});

test("the pages that are done of a long PDF are told before its end", async () => {
  const pages = Array.from({ length: 1200 }, (_, at) => `# Page ${at}\n${"A line of words.\n".repeat(30)}`);
  const heard: number[] = [];
  const outcome = await reader.read(order(pdfOf(pages), mimeTypes.pdf), never, {
    onPages(done, all) {
      expect(all).toBe(1200);
      heard.push(done);
    },
  });
  expect(outcome).toMatchObject({ pages: 1200 });
  expect(heard.length).toBeGreaterThan(0);
  expect(heard).toEqual(heard.toSorted((a, b) => a - b));
});

const scan = (name: string) => new Uint8Array(readFileSync(new URL(`../../testing/scans/${name}`, import.meta.url)));

describe("text in images", () => {
  const text = [
    "Minutes of the harbour committee",
    "The lighthouse keeper reported that the lamp\nwas replaced in October after the storm.",
    "Repairs of the northern pier will cost\n4180 crowns and begin on Monday.",
  ].join("\n\n");

  test.each([
    ["a page of a PDF", () => scan("scan.pdf"), mimeTypes.pdf],
    ["an image of PNG", () => scan("scan.png"), "image/png"],
    ["one of JPEG", () => new Bun.Image(scan("scan.png")).jpeg({ quality: 90 }).bytes(), "image/jpeg"],
    ["one of WebP", () => new Bun.Image(scan("scan.png")).webp({ quality: 90 }).bytes(), "image/webp"],
  ])("is read in a jailed child, with its boxes: %s", async (_, content, mime_type) => {
    const outcome = await read(await content(), mime_type);
    if ("error" in outcome) throw new Error(outcome.error.message);
    const { chunks, pages } = outcome;
    expect({
      pages,
      texts: chunks.map((chunk) => chunk.text),
      page: chunks[0]!.page,
      source: chunks[0]!.source,
    }).toEqual({
      pages: 1,
      texts: [text],
      page: 1,
      source: "ocr",
    });
    const [left = 1, top = 1, right = 0, bottom = 1] = chunks[0]!.boxes![0]!;
    expect([left < 0.12, top < 0.15, right > 0.5, bottom < 0.2]).toEqual([true, true, true, true]);
  });

  test.each(Object.keys(drawnPages))("is read however the page has it: %s", async (kind) => {
    const page = pixelsOf((await openDrawer(scan("scan.pdf"))).scan(1));
    const outcome = await read(drawnPages[kind]!(page), mimeTypes.pdf);
    expect("error" in outcome ? outcome.error : outcome.chunks.map((chunk) => chunk.text)).toEqual([text]);
  });

  test.each(["fax.pdf", "jbig2.pdf", "jpeg2000.pdf"])("is read from an image in any compression: %s", async (name) => {
    const outcome = await read(scan(name), mimeTypes.pdf);
    expect("error" in outcome ? outcome.error : outcome.chunks.map((chunk) => chunk.text)).toEqual([text]);
  });

  test("is not looked for on a page of rules and boxes", async () => {
    const lines = Array.from({ length: 20 }, (_, at) => `20 ${20 * at} m 400 ${20 * at} l S`).join("\n");
    const ruled = pdfFrom([
      "<< /Type /Catalog /Pages 2 0 R >>",
      "<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
      "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 420 420] /Contents 4 0 R >>",
      streamOf(`${lines}\n10 10 400 400 re S`),
    ]);
    const document = documentTask(order(ruled, mimeTypes.pdf));
    const start = () => startChild({ language: "pdfs", jailed: true });
    expect(await performWithRestart(start, () => document, never)).toMatchObject({ error: { code: "document_empty" } });
  });

  test("of some pages is in order with the text of the others", async () => {
    const image = Buffer.from(await new Bun.Image(scan("scan.png")).jpeg({ quality: 90 }).bytes()).toString("latin1");
    const [font, text] = [
      "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
      "BT /F 12 Tf 40 200 Td (Typed.) Tj ET",
    ];
    const page = (resources: string, content: number) =>
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 420 300] /Resources << ${resources} >> /Contents ${content} 0 R >>`;
    const mixed = pdfFrom([
      "<< /Type /Catalog /Pages 2 0 R >>",
      "<< /Type /Pages /Count 3 /Kids [3 0 R 4 0 R 3 0 R] >>",
      page("/Font << /F 5 0 R >>", 6),
      page("/XObject << /I 7 0 R >>", 8),
      font,
      streamOf(text),
      streamOf(
        image,
        "/Type /XObject /Subtype /Image /Width 875 /Height 625 /BitsPerComponent 8 /ColorSpace /DeviceRGB /Filter /DCTDecode ",
      ),
      streamOf("420 0 0 300 0 0 cm /I Do"),
    ]);
    const outcome = await read(mixed, mimeTypes.pdf);
    if ("error" in outcome) throw new Error(outcome.error.message);
    const all = outcome.chunks.map(({ page, source = "text", text }) => [page, source, text.slice(0, 7)]);
    expect(all).toEqual([
      [1, "text", "Typed."],
      [2, "ocr", "Minutes"],
      [3, "text", "Typed."],
    ]);
  });

  test("of several pages is read by several children at once, in order, and reports each page once it is read", async () => {
    const image = Buffer.from(await new Bun.Image(scan("scan.png")).jpeg({ quality: 90 }).bytes()).toString("latin1");
    const scanned = pdfFrom([
      "<< /Type /Catalog /Pages 2 0 R >>",
      `<< /Type /Pages /Count 6 /Kids [${"3 0 R ".repeat(6)}] >>`,
      "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 420 300] /Resources << /XObject << /I 4 0 R >> >> /Contents 5 0 R >>",
      streamOf(
        image,
        "/Type /XObject /Subtype /Image /Width 875 /Height 625 /BitsPerComponent 8 /ColorSpace /DeviceRGB /Filter /DCTDecode ",
      ),
      streamOf("420 0 0 300 0 0 cm /I Do"),
    ]);
    const done: number[] = [];
    const rooms: string[] = [];
    const outcome = await reader.read(order(scanned, mimeTypes.pdf), never, {
      onPages: (count) => done.push(count),
      takeRoom() {
        if (rooms.length > 0) return null;
        rooms.push("taken");
        return () => rooms.push("given back");
      },
    });
    if ("error" in outcome) throw new Error(outcome.error.message);
    expect(outcome.chunks.map((chunk) => [chunk.page, chunk.source, chunk.text.slice(0, 7)])).toEqual(
      [1, 2, 3, 4, 5, 6].map((page) => [page, "ocr", "Minutes"]),
    );
    expect([outcome.pages, outcome.report.warnings]).toEqual([6, []]);
    expect([done, rooms]).toEqual([
      [1, 2, 3, 4, 5, 6],
      ["taken", "given back"],
    ]);
  });

  test("that is unreadable has a clear error code", async () => {
    // The executable reads all of them in e2e/hostile-documents.e2e.ts.
    const some = ["png: 1.6 billion pixels in its head", "png: cut off", "pdf: images and no text"];
    for (const { name, content, mime_type, expected } of hostileImages)
      if (some.includes(name))
        expect(expected as readonly string[]).toContain(codeOf(await read(await content(), mime_type)));
  });
});

describe("a mail", () => {
  test("has the text of an attached PDF and of an attached image, which jailed children read", async () => {
    const image = scan("scan.png");
    const scanned = scan("scan.pdf");
    for (const [name, content, text] of [
      ["report.pdf", pdfOf(["The mast is broken."]), "The mast is broken."],
      ["scan.png", image, "Minutes of the harbour committee"],
      ["scan.pdf", scanned, "Minutes of the harbour committee"],
    ] as const) {
      const outcome = await read(mailWith([content], name), mimeTypes.eml);
      if ("error" in outcome) throw new Error(outcome.error.message);
      expect(outcome.chunks.map((chunk) => chunk.text).join("\n")).toContain(text);
      expect(outcome).toMatchObject({ pages: null, report: { warnings: [] } });
      expect(outcome.chunks.at(-1)).toMatchObject({ heading: `x › Attachment: ${name}`, page: null });
    }
  });

  test("keeps its text if an attachment ends the child that reads it", async () => {
    const hostile = hostileDocuments.find(({ name }) => name === "pdf: a page of 800 MB");
    const outcome = await read(mailWith([hostile!.content()], "bomb.pdf"), mimeTypes.eml);
    if ("error" in outcome) throw new Error(outcome.error.message);
    expect(outcome.chunks.map((chunk) => chunk.text).join("\n")).toContain("Some text.");
    expect(outcome.report.warnings).toEqual([
      { code: "part_unreadable", message: expect.stringContaining("“bomb.pdf” was not read"), page: null },
    ]);
  });
});

describe("the reader", () => {
  test("reads nothing if the sandbox is off, and uses a bare child without a jail", async () => {
    const off = createDocumentReader({ level: () => "off" });
    expect(codeOf(await read(utf8("x"), mimeTypes.txt, off))).toBe("sandbox_unavailable");
    const bare = createDocumentReader({ level: () => "process", spares: 0 });
    expect(codeOf(await read(utf8("x"), mimeTypes.txt, bare))).toBe("text");
  });

  test("kills its children when stopped", async () => {
    const before = childCount();
    const other = createDocumentReader({ level: () => "strict" });
    const outcome = read(utf8("A word. ".repeat(1_000_000)), mimeTypes.txt, other); // It is not done with it so soon.
    while (childCount() === before) await Bun.sleep(1);
    other.stop();
    expect(codeOf(await outcome)).toBe("sandbox_failed");
    while (childCount() > before) await Bun.sleep(5);
  });
});

const octal = (bytes: Uint8Array) => Array.from(bytes, (byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");
const [ready, started] = [encodePacket("ready"), encodePacket("started")];
const said = (kind: "chunks" | "ended" | "result" | "progress" | "page", value: unknown) =>
  encodePacket(kind, utf8(JSON.stringify(value)));
const report = { characters: 4, encoding: null, warnings: [] };
const end = said("ended", { error: null, pages: null, report });
const endWith = (fields: object) => said("ended", { error: null, pages: null, report: { ...report, ...fields } });
const warning = { code: "encoding_guessed", message: "A guess.", page: null };
/** A child that is ready, takes its order, and then writes these bytes for any document. */
const lying = (...packets: Uint8Array[]) =>
  startChild({
    language: "documents",
    jailed: false,
    command: [
      "/bin/sh",
      "-c",
      `printf '${octal(ready)}'; head -c 4 >/dev/null; printf '${octal(Buffer.concat(packets))}'`,
    ],
  });
const answer = (...packets: Uint8Array[]) => lying(...packets).perform(documentTask(order(utf8("x"))), never);
const chunk = ["text", 1, null, null];

describe("a compromised child", () => {
  test.each<[string, Uint8Array[]]>([
    ["a chunk that is no text", [started, said("chunks", [[1, 1, null, null]]), end]],
    ["a blank chunk", [started, said("chunks", [[" ", 1, null, null]]), end]],
    ["half a character", [started, encodePacket("chunks", utf8('[["\\ud800",1,null,null]]')), end]],
    ["a zero in a text", [started, said("chunks", [["a\0b", 1, null, null]]), end]],
    ["more tokens than a chunk has", [started, said("chunks", [["text", 801, null, null]]), end]],
    ["half a token", [started, said("chunks", [["text", 0.5, null, null]]), end]],
    ["a page that cannot be", [started, said("chunks", [["text", 1, 5001, null]]), end]],
    ["a box beyond the page", [started, said("chunks", [["text", 1, 1, null, [[0, 0, 1, 1.01]]]]), end]],
    ["a box of no numbers", [started, said("chunks", [["text", 1, 1, null, [["0", 0, 1, 1]]]]), end]],
    [
      "more boxes than a chunk has",
      [started, said("chunks", [["text", 1, 1, null, Array(101).fill([0, 0, 1, 1])]]), end],
    ],
    ["a source that nobody knows", [started, said("chunks", [["text", 1, 1, null, null, "dream"]]), end]],
    ["a heading without an end", [started, said("chunks", [["text", 1, null, "x".repeat(501)]]), end]],
    ["chunks that are no list", [started, said("chunks", { length: 1, 0: chunk }), end]],
    [
      "too many chunks",
      [started, ...Array.from({ length: 6 }, () => said("chunks", Array(9000).fill(["a", 1, null, null]))), end],
    ],
    ["more pages than there may be", [started, said("ended", { error: null, pages: 5001 })]],
    ["no report", [started, said("ended", { error: null, pages: null })]],
    ["more characters than there may be", [started, endWith({ characters: 1e9 })]],
    ["an encoding that is none", [started, endWith({ encoding: "<script>" })]],
    ["more warnings than there may be", [started, endWith({ warnings: Array(51).fill(warning) })]],
    ["an unknown warning", [started, endWith({ warnings: [{ ...warning, code: "evil" }] })]],
    ["a warning without an end", [started, endWith({ warnings: [{ ...warning, message: "x".repeat(301) }] })]],
    ["a warning on no page", [started, endWith({ warnings: [{ ...warning, page: 0 }] })]],
    ["an error that nobody knows", [started, said("ended", { error: { code: "evil", message: "x" }, pages: null })]],
    ["progress that is no count", [started, said("progress", ["1", 2]), end]],
    ["progress without its pages", [started, said("progress", 1), end]],
    ["progress beyond the last page", [started, said("progress", [3, 2]), end]],
    ["progress of more pages than there may be", [started, said("progress", [1, 5001]), end]],
    ["the same progress again", [started, said("progress", [1, 2]), said("progress", [1, 2]), end]],
    ["progress backwards", [started, said("progress", [2, 3]), said("progress", [1, 3]), end]],
    ["progress with other pages", [started, said("progress", [1, 3]), said("progress", [2, 4]), end]],
    ["progress after its end", [started, encodePacket("progress", utf8("null")), end]],
    ["no page for OCR", [started, said("ended", { error: "scanned", pages: 1, scans: [] })]],
    ["a page for OCR twice", [started, said("ended", { error: "scanned", pages: 2, scans: [1, 1] })]],
    ["a page for OCR after the last", [started, said("ended", { error: "scanned", pages: 2, scans: [3] })]],
    ["pages for OCR that are no list", [started, said("ended", { error: "scanned", pages: 2, scans: "1" })]],
    ["a page of a scan", [started, said("page", [1, []]), end]],
    ["a result of a program", [started, said("result", 1), end]],
    ["an answer before it has started", [said("chunks", [chunk]), end]],
    ["nothing more", [started]],
  ])("that sends %s is rejected", async (_, packets) => {
    // Too long for a command line: the shell repeats the part that occurs a thousand times.
    const small = packets.filter((packet) => packet.length < 20_000);
    const outcome = small.length === packets.length ? await answer(...packets) : hearAll(packets);
    expect(outcome).toMatchObject({ error: { code: "sandbox_failed" } });
  });

  test("cannot ask for OCR once OCR has run", async () => {
    const scanned = said("ended", { error: "scanned", pages: 3, scans: [1, 3] });
    expect(await answer(started, scanned)).toEqual({ scans: [1, 3], pages: 3 });
    const scans = { read: new Map(), left: [], lost: [] };
    const outcome = await lying(started, scanned).perform(scannedTask(order(utf8("x")), scans), never);
    expect(outcome).toMatchObject({ error: { code: "sandbox_failed" } });
  });

  test("that says how many pages are done is believed as long as they can be", async () => {
    const heard: unknown[] = [];
    const task = documentTask(order(utf8("x")), (...pages) => heard.push(pages));
    const packets = [said("progress", [1, 3]), said("progress", [3, 3]), said("chunks", [chunk]), end];
    expect(await lying(started, ...packets).perform(task, never)).toMatchObject({ chunks: [{ text: "text" }] });
    expect(heard).toEqual([
      [1, 3],
      [3, 3],
    ]);
  });

  test.each([
    ["an attached PDF to the PDF child", { error: "pdf" }, "pdf"],
    ["an attached scan to the OCR child", { error: "scanned-parts" }, "scanned-parts"],
    ["its images to other children", { error: "scanned", scans: [1], pages: 1 }, { scans: [1], pages: 1 }],
  ])("cannot pass %s without end", async (_, given, heard) => {
    const asked = said("ended", { pages: null, ...given });
    expect(await answer(started, asked)).toEqual(heard as never);
    const outcome = await lying(started, asked).perform(scannedPartsTask(order(utf8("x"))), never);
    expect(outcome).toMatchObject({ error: { code: "sandbox_failed" } });
  });

  test("that follows the protocol is accepted", async () => {
    expect(await answer(started, said("chunks", [chunk]), end)).toEqual({
      chunks: [{ text: "text", tokens: 1, page: null, heading: null }],
      pages: null,
      report,
    });
  });

  test("has an outcome in time, whatever it writes", async () => {
    const packet = fc
      .tuple(fc.constantFrom(...packetKinds), fc.oneof(fc.uint8Array({ maxLength: 60 }), fc.json().map(utf8)))
      .map(([kind, payload]) => encodePacket(kind, payload));
    await fc.assert(
      fc.asyncProperty(fc.array(packet, { maxLength: 4 }), async (packets) => {
        const outcome = await answer(started, ...packets);
        if (typeof outcome === "string" || "scans" in outcome) return; // Other children are asked.
        expect("error" in outcome || outcome.chunks.every(({ text }) => typeof text === "string")).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  const line = { text: "Read", box: [0, 0, 1, 1] };
  test.each<[string, Uint8Array]>([
    ["a page that is not its own", said("page", [3, [[line]]])],
    ["a page that is no number", said("page", ["1", [[line]]])],
    ["paragraphs that are no list", said("page", [1, "x"])],
    ["lines that are no list", said("page", [1, ["x"]])],
    ["a text that is none", said("page", [1, [[{ ...line, text: 1 }]]])],
    ["half a character", encodePacket("page", utf8('[1,[[{"text":"\\ud800","box":null}]]]'))],
    ["a box beyond the page", said("page", [1, [[{ ...line, box: [0, 0, 1, 2] }]]])],
    ["an error that nobody knows", said("ended", { code: "evil", message: "x" })],
    ["chunks", said("chunks", [chunk])],
    ["a page twice", Buffer.concat([said("page", [2, []]), said("page", [2, []])])],
  ])("that reads scans and sends %s is ended, and keeps what it sent before", async (_, packet) => {
    const pages: unknown[] = [];
    const task = scanTask({
      ...order(utf8("x")),
      pages: [1, 2, 4],
      onPage: (...page) => pages.push(page),
    });
    const end: ScanEnd = await lying(started, said("page", [4, [[line]]]), packet).perform(task, never);
    expect([end.why?.kind, end.fault]).toEqual(["failed", null]);
    expect(pages[0]).toEqual([4, [[line]]]);
  });

  test("that dies early is replaced once, and the next one gets the whole document", async () => {
    let starts = 0;
    const start = () => {
      starts++;
      return starts === 1
        ? startChild({ language: "documents", jailed: false, command: ["/bin/sh", "-c", "exit 1"] })
        : startChild({ language: "documents", jailed: true });
    };
    const given = order(utf8("whole"));
    expect(await performWithRestart(start, () => documentTask(given), never)).toMatchObject({
      chunks: [{ text: "whole" }],
    });
    expect(starts).toBe(2);
  });
});

/** Passes the same packets to the task without a process. */
function hearAll(packets: readonly Uint8Array[]) {
  const task = documentTask(order(utf8("x")));
  try {
    for (const packet of packets.slice(1))
      task.onPacket({
        kind: packetKinds[packet[0] ?? 0] ?? "ended",
        payload: packet.slice(5) as Uint8Array<ArrayBuffer>,
      });
    return task.outcome(null, 0, 0);
  } catch {
    return task.outcome({ kind: "failed", message: "" }, 0, 0);
  }
}
