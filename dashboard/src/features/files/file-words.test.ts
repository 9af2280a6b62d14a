import { expect, test } from "bun:test";
import { maxUploadBytes } from "../../entities/file/upload.ts";
import { failureWords, localFault, processedShare, progressWords } from "./file-words.ts";

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

test("progress counts pages until the chunks are counted", () => {
  expect(progressWords({ processed: 0, total: null, pages: null, pages_done: null })).toBe("");
  expect(progressWords({ processed: 0, total: null, pages: null, pages_done: 3 })).toBe("3 pages read");
  expect(progressWords({ processed: 0, total: null, pages: 8, pages_done: 3 })).toBe("3 of 8 pages read");
  expect(progressWords({ processed: 5, total: 1200, pages: 8, pages_done: 3 })).toBe("5 of 1,200");
});
