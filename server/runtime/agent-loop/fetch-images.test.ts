import { expect, test } from "bun:test";
import type { ModelRequest, PromptImage } from "../../domain/model-call.ts";
import { fetchImages } from "./fetch-images.ts";
import type { Ask } from "./messages.ts";

const bytes = new TextEncoder().encode("picture");
const image = (file_id: string): PromptImage => ({ file_id, mime_type: "image/png", sha256: file_id });
const request = (...images: PromptImage[]): ModelRequest => ({
  tools: [],
  settings: {},
  messages: [
    { role: "system", content: "Look." },
    { role: "user", content: "These came along.", images },
    { role: "user", content: "What is it?" },
  ],
});

const ask = (async (_: string, { file_id }: { file_id: string }) =>
  file_id === "file_gone" ? null : { filename: "a.png", bytes: bytes.length, content: bytes.toBase64() }) as Ask;

test("images are sent with their bytes, and the hashed request has none", async () => {
  const asked = request(image("file_a"), image("file_b"));
  const before = structuredClone(asked);
  const { messages } = await fetchImages(asked, ask);
  expect(messages[1]).toEqual({
    role: "user",
    content: "These came along.",
    images: [
      { ...image("file_a"), data: bytes.toBase64() },
      { ...image("file_b"), data: bytes.toBase64() },
    ],
  });
  expect(asked).toEqual(before);
});

test("an image that was deleted before the call is reported to the model, and the others are sent", async () => {
  const { messages } = await fetchImages(request(image("file_gone"), image("file_b")), ask);
  expect(messages[1]).toEqual({
    role: "user",
    content: "These came along.\n\n[The image file_gone was deleted meanwhile]",
    images: [{ ...image("file_b"), data: bytes.toBase64() }],
  });
});

test("a request without images is sent unchanged", async () => {
  const plain: ModelRequest = { messages: [{ role: "user", content: "Hello" }], tools: [], settings: {} };
  expect(await fetchImages(plain, ask)).toBe(plain);
});
