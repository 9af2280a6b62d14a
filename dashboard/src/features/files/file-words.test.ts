import { expect, test } from "bun:test";
import { failureWords, localFault, shareDone } from "./file-words.ts";
import { mostBytes } from "./upload.ts";

test("what is too large or empty is told before it is sent", () => {
  expect(localFault({ name: "a.pdf", size: mostBytes })).toBeNull();
  expect(localFault({ name: "a.pdf", size: mostBytes + 1 })).toStartWith("a.pdf is larger than 100 MB");
  expect(localFault({ name: "a.txt", size: 0 })).toBe("a.txt is empty.");
});

test("a known failure says what to do, another one what the server says", () => {
  expect(failureWords({ error: { code: "document_encrypted", message: "…" } })).toContain("without a password");
  expect(failureWords({ error: { code: "embedding_failed", message: "No model." } })).toBe("No model.");
});

test("progress is unknown until the chunks are counted", () => {
  expect(shareDone({ status: "processing", processed: 0, total: null })).toBeNull();
  expect(shareDone({ status: "processing", processed: 3, total: 12 })).toBe(0.25);
  expect(shareDone({ status: "ready", processed: 0, total: null })).toBe(1);
});
