import { type Chunking, chunkSections, type DocumentChunk } from "./chunking.ts";
import { cleanText } from "./decode.ts";
import { estimateTokens } from "./estimate-tokens.ts";

// What is cut at once: a few milliseconds, for which everybody else on the thread waits.
const part_chars = 16_384;

/**
 * Plain text as chunks, some of them at a time. It has no format that a parser could fall for, and needs no child; that
 * is why tokens are estimated.
 */
export function* chunkText(text: string, chunking: Chunking): Generator<DocumentChunk[]> {
  for (const part of partsOf(cleanText(text)))
    yield [...chunkSections([{ text: part, page: null, heading: null }], chunking, estimateTokens)];
}

/** Cut between paragraphs, else lines, else words, else anywhere but within a character. */
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
