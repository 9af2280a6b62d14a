import { expect, test } from "bun:test";
import { maxUploadBytes } from "../../entities/file/upload.ts";
import { failureWords, localFault, processedShare } from "./file-words.ts";

test("a file that is too large or empty is rejected before the upload", () => {
  expect(localFault({ name: "a.pdf", size: maxUploadBytes })).toBeNull();
  expect(localFault({ name: "a.pdf", size: maxUploadBytes + 1 })).toStartWith("a.pdf is larger than 100 MB");
  expect(localFault({ name: "a.txt", size: 0 })).toBe("a.txt is empty.");
});

test("a known failure shows advice, any other shows the server's message", () => {
  expect(failureWords({ error: { code: "document_encrypted", message: "…" } })).toContain("without a password");
  expect(failureWords({ error: { code: "embedding_failed", message: "No model." } })).toBe("No model.");
});

test("progress is unknown until the chunks are counted", () => {
  expect(processedShare({ status: "processing", processed: 0, total: null })).toBeNull();
  expect(processedShare({ status: "processing", processed: 3, total: 12 })).toBe(0.25);
  expect(processedShare({ status: "ready", processed: 0, total: null })).toBe(1);
});
