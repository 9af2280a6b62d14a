import { expect, test } from "bun:test";
import { promptSize } from "../../domain/context-size.ts";
import type { PromptDocument, PromptMessage } from "../../domain/model-call.ts";
import { takenBy } from "../models/input-kinds.ts";
import { suitDocuments } from "./suit-documents.ts";

const [claude, seeing, blind] = [
  takenBy("anthropic", "claude-sonnet-4-5"),
  takenBy("ollama", "qwen2.5vl:7b"),
  takenBy("deepseek", "deepseek-chat"),
];
const pdf = { file_id: "file_p", mime_type: "application/pdf", sha256: "p", filename: "a.pdf", pages: 50 };
const withPdf = (more: Partial<PromptDocument> = {}): PromptMessage[] => [
  { role: "user", content: "Read.", documents: [{ ...pdf, text: "t".repeat(90_000), ...more }] },
];
const sizeOf = (messages: PromptMessage[]) => promptSize({ messages, tools: [], settings: {} });
const imagesIn = ([message]: PromptMessage[]) =>
  message?.role === "user" ? message.documents?.map(({ page_images }) => page_images) : null;

test("a model that replaces one that reads PDFs is counted the images of its pages beside the text", () => {
  const suited = suitDocuments(withPdf(), seeing);
  expect(imagesIn(suited)).toEqual([20]);
  expect(sizeOf(suited)).toBeGreaterThan(40_000 + 30_000);
  expect(sizeOf(suitDocuments(withPdf(), blind))).toBeLessThan(31_000);
});

test("a model that reads PDFs is counted all pages, also of one that was read for images of its first pages", () => {
  const suited = suitDocuments(withPdf({ page_images: 20 }), claude);
  expect(imagesIn(suited)).toEqual([undefined]);
  expect(sizeOf(suited)).toBeGreaterThan(50 * 2000);
});

test("a PDF with more pages than providers take is given as its text to a model that reads PDFs", () => {
  const suited = suitDocuments(withPdf({ page_images: 20, pages: 150 }), claude);
  expect(imagesIn(suited)).toEqual([0]);
  expect(sizeOf(suited)).toBeLessThan(31_000);
});

test("messages that have the form already stay the same objects", () => {
  for (const [messages, takes] of [
    [withPdf(), claude],
    [withPdf({ page_images: 7 }), seeing],
    [[{ role: "user", content: "Hi." }], blind],
  ] as const)
    expect(suitDocuments(messages as PromptMessage[], takes)).toBe(messages as PromptMessage[]);
});
