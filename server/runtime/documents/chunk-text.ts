import type { Chunking } from "../../domain/chunking.ts";
import { chunkSections, type DocumentChunk } from "./chunking.ts";
import { cleanText } from "./decode.ts";
import { estimateTokens } from "./estimate-tokens.ts";

// Characters chunked per step: takes a few milliseconds, during which the thread does nothing else.
const part_chars = 16_384;

/**
 * Chunks plain text in steps. Plain text needs no parser that could be attacked and so no child process, which is why
 * its tokens are estimated.
 */
export function* chunkText(text: string, chunking: Chunking): Generator<DocumentChunk[]> {
  for (const part of partsOf(cleanText(text)))
    yield [...chunkSections([{ text: part, page: null, heading: null }], chunking, estimateTokens)];
}

/** Cuts at a paragraph, else at a line, else at a word, else anywhere except within a character. */
function* partsOf(text: string): Generator<string> {
  let from = 0;
  while (text.length - from > part_chars) {
    const window = text.slice(from, from + part_chars);
    const ends = ["\n\n", "\n", " "].map((mark) => window.lastIndexOf(mark) + mark.length);
    const whole = part_chars - Number(/[\ud800-\udbff]$/.test(window));
    const length = ends.find((end) => end > part_chars / 2) ?? whole;
    yield text.slice(from, from + length);
    from += length;
  }
  yield text.slice(from);
}
