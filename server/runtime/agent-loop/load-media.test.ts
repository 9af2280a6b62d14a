import { describe, expect, test } from "bun:test";
import type { ModelRequest, PromptImage, PromptMessage } from "../../domain/model-call.ts";
import { takenBy } from "../models/input-kinds.ts";
import { loadMedia } from "./load-media.ts";
import type { Ask } from "./messages.ts";

const bytes = new TextEncoder().encode("picture");
const data = bytes.toBase64();
const image = (file_id: string): PromptImage => ({ file_id, mime_type: "image/png", sha256: file_id });
const recording: PromptImage = { file_id: "file_r", mime_type: "audio/wav", sha256: "r" };
const pdf = {
  file_id: "file_p",
  mime_type: "application/pdf",
  sha256: "p",
  filename: "a.pdf",
  pages: 2,
  text: "Words.",
};
const requestOf = (...messages: PromptMessage[]): ModelRequest => ({ tools: [], settings: {}, messages });
const request = (...images: PromptImage[]): ModelRequest =>
  requestOf(
    { role: "system", content: "Look." },
    { role: "user", content: "These came along.", images },
    { role: "user", content: "What is it?" },
  );
const everything = { ...takenBy("test", "echo"), pdf: true };
const nothing = takenBy("deepseek", "deepseek-chat");

const asked: string[] = [];
const ask = (async (_: string, { file_id }: { file_id: string }) => {
  asked.push(file_id);
  if (file_id === "file_gone") return null;
  const long = file_id.startsWith("file_long");
  return { filename: "a.png", bytes: long ? 4 * 1024 * 1024 : bytes.length, content: data };
}) as Ask;
/** Has four megabytes in every file. */
const largeFiles = (async (_: string, { start, length }: { start: number; length: number }) => {
  const whole = 4 * 1024 * 1024;
  const part = new Uint8Array(Math.min(length, whole - start));
  return { filename: "a.png", bytes: whole, content: part.toBase64() };
}) as Ask;

test("images are sent with their bytes, and the hashed request has none", async () => {
  const asked = request(image("file_a"), image("file_b"));
  const before = structuredClone(asked);
  const { messages } = await loadMedia(asked, everything, ask);
  expect(messages[1]).toEqual({
    role: "user",
    content: "These came along.",
    images: [
      { ...image("file_a"), data },
      { ...image("file_b"), data },
    ],
  });
  expect(asked).toEqual(before);
});

test("an image that was deleted before the call is reported to the model, and the others are sent", async () => {
  const { messages } = await loadMedia(request(image("file_gone"), image("file_b")), everything, ask);
  expect(messages[1]).toEqual({
    role: "user",
    content: "These came along.\n\n[The image file_gone was deleted meanwhile]",
    images: [{ ...image("file_b"), data }],
  });
});

test("a request without images is sent unchanged", async () => {
  const plain: ModelRequest = { messages: [{ role: "user", content: "Hello" }], tools: [], settings: {} };
  expect(await loadMedia(plain, everything, ask)).toBe(plain);
});

describe("a model that takes only text", () => {
  test("is told of images and recordings, and reads the text of a PDF", async () => {
    asked.length = 0;
    const { messages } = await loadMedia(
      requestOf({ role: "user", content: "Here.", images: [image("file_a")], audio: [recording], documents: [pdf] }),
      nothing,
      ask,
    );
    expect(messages).toEqual([
      {
        role: "user",
        content: [
          "Here.",
          "[The image file_a cannot be seen by this model]",
          "[The recording file_r cannot be heard by this model]",
          '=== File file_p "a.pdf" (application/pdf) ===\nWords.\n=== End of file_p ===',
        ].join("\n\n"),
      },
    ]);
    expect(asked).toEqual([]); // Nothing is read that is not sent.
  });
});

test("a PDF goes to a model that reads PDFs as it is, without its text", async () => {
  const { messages } = await loadMedia(
    requestOf({ role: "user", content: "Here.", documents: [pdf] }),
    everything,
    ask,
  );
  expect(messages).toEqual([{ role: "user", content: "Here.", documents: [{ ...pdf, data }] }]);
});

describe("pages of a PDF as images", () => {
  const seeing = takenBy("ollama", "qwen2.5vl:7b");
  const orders: unknown[] = [];
  /** The second page is damaged. */
  const draws = (async (kind: string, order: { file_id: string; count: number }) => {
    if (kind !== "page_images") return (ask as (...args: unknown[]) => unknown)(kind, order);
    orders.push(order);
    if (order.file_id === "file_gone") return null;
    return ["one", null, "three", "four"].slice(0, order.count);
  }) as Ask;
  const ofPdf = (document: object, takes = seeing) =>
    loadMedia(requestOf({ role: "user", content: "Here.", documents: [{ ...pdf, ...document }] }), takes, draws);
  const words = '=== File file_p "a.pdf" (application/pdf) ===\nWords.\n=== End of file_p ===';
  const page = (data: string) => ({ file_id: "file_p", mime_type: "image/jpeg", sha256: "p", data });

  test("follow the text for a model that sees images and reads no PDFs, with their numbers", async () => {
    const { messages } = await ofPdf({ pages: 3, page_images: 3 });
    const note = "[Images of pages of file_p are attached, in this order: 1, 3. Its other pages are not shown.]";
    expect(messages).toEqual([
      { role: "user", content: `Here.\n\n${words}\n\n${note}`, images: [page("one"), page("three")] },
    ]);
  });

  test("stand alone if the PDF has no text", async () => {
    for (const takes of [seeing, takenBy("openai_compatible", "any")]) {
      const { messages } = await ofPdf({ pages: 1, page_images: 1, text: null }, takes);
      const note = "[Images of pages of file_p are attached, in this order: 1.]";
      expect(messages).toEqual([{ role: "user", content: `Here.\n\n${note}`, images: [page("one")] }]);
    }
  });

  test("are drawn too if the run began with a model that reads PDFs, and not for one that may see nothing", async () => {
    orders.length = 0;
    await ofPdf({ pages: 45 });
    await ofPdf({ pages: 2 }, takenBy("openai_compatible", "any"));
    await ofPdf({ pages: 2 }, nothing);
    await ofPdf({ pages: 2 }, everything);
    expect(orders).toEqual([{ file_id: "file_p", count: 20 }]);
  });

  test("are as many as the request has room for, and a deleted PDF has none", async () => {
    const { messages } = await ofPdf({ pages: 4, page_images: 4 }, { ...seeing, images_most: 1 });
    expect(messages[0]).toMatchObject({ images: [page("one")] });
    expect((await ofPdf({ pages: 4 }, { ...seeing, images_most: 0 })).messages[0]).toEqual({
      role: "user",
      content: `Here.\n\n${words}\n\n[No page of file_p is shown as an image.]`,
    });
    const { messages: gone } = await ofPdf({ file_id: "file_gone", text: null });
    expect(gone[0]).toMatchObject({ content: expect.stringContaining("file_gone has no text") });
  });
});

test("a PDF with more pages than providers take goes as its text, also to a model that reads PDFs", async () => {
  asked.length = 0;
  const long = { ...pdf, pages: 150, page_images: 0 };
  const { messages } = await loadMedia(
    requestOf({ role: "user", content: "Here.", documents: [long] }),
    everything,
    ask,
  );
  expect(messages[0]).toMatchObject({ content: expect.stringContaining("Words.") });
  expect([messages[0], asked]).toEqual([expect.not.objectContaining({ documents: expect.anything() }), []]);
});

test("a deleted PDF is replaced by its text, and one without text by a note", async () => {
  const gone = { ...pdf, file_id: "file_gone" };
  const { messages } = await loadMedia(
    requestOf({ role: "user", content: "Here.", documents: [gone, { ...gone, text: null }] }),
    everything,
    ask,
  );
  expect(messages).toEqual([
    {
      role: "user",
      content: [
        "Here.",
        '=== File file_gone "a.pdf" (application/pdf) ===\nWords.\n=== End of file_gone ===',
        "[The file file_gone was deleted meanwhile]",
      ].join("\n\n"),
    },
  ]);
});

test("a request has no more images than its provider takes: the newest are sent", async () => {
  const { messages } = await loadMedia(
    requestOf(
      { role: "user", content: "One.", images: [image("file_1"), image("file_2")] },
      { role: "user", content: "Two.", images: [image("file_3")] },
    ),
    { ...everything, images_most: 2 },
    ask,
  );
  expect(messages).toEqual([
    {
      role: "user",
      content: "One.\n\n[The image file_2 is left out, because the request has no room for it]",
      images: [{ ...image("file_1"), data }],
    },
    { role: "user", content: "Two.", images: [{ ...image("file_3"), data }] },
  ]);
});

test("a request has no more bytes than providers take: older images are left out, and the model is told", async () => {
  const shown = ["file_1", "file_2", "file_3", "file_4", "file_5"].map(
    (id): PromptMessage => ({ role: "user", content: id, images: [image(id)] }),
  );
  const { messages } = await loadMedia(requestOf(...shown), everything, largeFiles);
  expect(messages.map((message) => "images" in message)).toEqual([false, false, true, true, true]);
  expect(messages[0]).toMatchObject({
    content: "file_1\n\n[The image file_1 is left out, because the request has no room for it]",
  });
});

test("an image with more pixels than the provider takes is left out, fewer so in a request of many", async () => {
  const png = (width: number) => {
    const header = Buffer.alloc(24);
    header.write("\x89PNG\r\n\x1a\n", "latin1");
    header.writeUInt32BE(width, 16);
    header.writeUInt32BE(10, 20);
    return header;
  };
  const wide = (async (_: string, { file_id }: { file_id: string }) => {
    const content = png(Number(file_id.split("_")[1]));
    return { filename: "a.png", bytes: content.length, content: content.toString("base64") };
  }) as Ask;
  const claude = takenBy("anthropic", "claude-sonnet-4-5");
  const sizes = async (...widths: number[]) => {
    const { messages } = await loadMedia(request(...widths.map((width) => image(`file_${width}`))), claude, wide);
    const [, shown] = messages;
    return shown?.role === "user" ? [shown.images?.length, shown.content] : [];
  };
  expect(await sizes(8000, 8001)).toEqual([
    1,
    expect.stringContaining("[The image file_8001 is left out: it has 8001 × 10 pixels"),
  ]);
  expect((await sizes(...Array(20).fill(2001)))[0]).toBe(20);
  expect((await sizes(2001, ...Array(20).fill(2000)))[0]).toBe(20);
});

describe("images of tool results", () => {
  const result = (call_id: string, images?: PromptImage[]): Extract<PromptMessage, { role: "tool" }> => ({
    role: "tool",
    call_id,
    tool: "draw",
    output: call_id,
    is_error: false,
    ...(images && { images }),
  });
  const conversation = requestOf(result("1", [image("file_a")]), result("2"), result("3", [image("file_b")]), {
    role: "user",
    content: "And now?",
  });

  test("stay with the result where the provider takes them there", async () => {
    const { messages } = await loadMedia(conversation, everything, ask);
    expect(messages[0]).toEqual(result("1", [{ ...image("file_a"), data }]));
    expect(messages).toHaveLength(4);
  });

  test("follow all results of an answer as a message of the user elsewhere", async () => {
    const { messages } = await loadMedia(conversation, { ...everything, tool_images: false }, ask);
    expect(messages).toEqual([
      result("1"),
      result("2"),
      result("3"),
      {
        role: "user",
        content:
          "[Images of the results above, in order: 1 of draw, 1 of draw. They come from the tools, not from the user.]",
        images: [
          { ...image("file_a"), data },
          { ...image("file_b"), data },
        ],
      },
      { role: "user", content: "And now?" },
    ]);
  });

  test("are named in the result for a model without images", async () => {
    const { messages } = await loadMedia(requestOf(result("1", [image("file_a")])), nothing, ask);
    expect(messages).toEqual([{ ...result("1"), output: "1\n\n[The image file_a cannot be seen by this model]" }]);
  });
});
