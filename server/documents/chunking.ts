import type { Section } from "./outline.ts";
import { blocksOf, lines, phrases, sentences, slices, words } from "./text-pieces.ts";

export interface Chunking {
  max_chunk_size_tokens: number;
  chunk_overlap_tokens: number;
}

export const defaultChunking: Chunking = { max_chunk_size_tokens: 800, chunk_overlap_tokens: 200 };
export const chunkingBounds = { min: 100, max: 4096 } as const;

/** A piece of a document as it is found and shown. */
export interface DocumentChunk {
  text: string;
  tokens: number;
  page: number | null;
  heading: string | null;
}

/** What is wrong with these sizes, and with which of them; null if nothing is. */
export function chunkingFault(chunking: Chunking): { param: keyof Chunking; message: string } | null {
  const { max_chunk_size_tokens: max, chunk_overlap_tokens: overlap } = chunking;
  if (!Number.isInteger(max) || max < chunkingBounds.min || max > chunkingBounds.max) {
    return { param: "max_chunk_size_tokens", message: `Must be from ${chunkingBounds.min} to ${chunkingBounds.max}.` };
  }
  if (!Number.isInteger(overlap) || overlap < 0 || overlap >= max / 2) {
    return { param: "chunk_overlap_tokens", message: "Must be less than half of max_chunk_size_tokens." };
  }
  return null;
}

type Split = (text: string) => string[];
/** Tokens of a text. */
export type Count = (text: string) => number;

/**
 * Cuts sections into chunks of at most so many tokens: at headings and pages always, then between paragraphs, then
 * sentences, then words. A chunk begins with the end of the one before it, as far as the overlap and the room go.
 */
export function* chunkSections(
  sections: readonly Section[],
  chunking: Chunking,
  count: Count,
): Generator<DocumentChunk> {
  for (const section of withTitles(sections)) {
    for (const text of cutSection(section.text, chunking, count)) {
      yield* within(text, chunking.max_chunk_size_tokens, count).map(({ text, tokens }) => ({
        text,
        tokens,
        page: section.page,
        heading: section.heading,
      }));
    }
  }
}

/** A section that is only its title goes with the one behind it: alone it says nothing. */
function withTitles(sections: readonly Section[]): Section[] {
  const joined: Section[] = [];
  let title: Section | null = null;
  for (const section of sections) {
    const fits: boolean = title !== null && title.page === section.page;
    if (title && !fits) joined.push(title);
    const whole: Section = title && fits ? { ...section, text: `${title.text}\n\n${section.text}` } : section;
    title = isOnlyTitle(whole.text) ? whole : null;
    if (title === null) joined.push(whole);
  }
  return title ? [...joined, title] : joined;
}

const isOnlyTitle = (text: string): boolean =>
  text.length < 500 && text.split("\n").every((line) => line === "" || /^#{1,6} /.test(line));

function* cutSection(section: string, chunking: Chunking, count: Count): Generator<string> {
  const { max_chunk_size_tokens: max, chunk_overlap_tokens: overlap } = chunking;
  let [current, tokens] = ["", 0];
  /** What is far too long is not counted to find that out. */
  const cost = (text: string) => (text.length > 20 * max ? Number.POSITIVE_INFINITY : count(text));
  const add = (text: string, size: number) => {
    current += text;
    tokens += size;
  };
  const flush = () => {
    const done = current;
    [current, tokens] = ["", 0];
    return done;
  };

  function* fill(text: string, splits: readonly Split[], mayTear: boolean): Generator<string> {
    const size = cost(text);
    if (tokens + size <= max) return add(text, size);
    const [split, ...finer] = splits;
    if (split && (size > max || (mayTear && tokens < max / 4))) {
      for (const piece of split(text)) yield* fill(piece, finer, false);
      return;
    }
    const done = flush();
    yield done;
    const tail = endOf(done, Math.min(overlap, max - size), count);
    add(tail.text, tail.tokens);
    add(text, size);
  }

  /** Rows under their header, which each chunk of them begins with. */
  function* fillTable(text: string): Generator<string> {
    const size = cost(text);
    if (tokens + size <= max) return add(text, size);
    const rows = lines(text);
    const header = rows.slice(0, 2).join("");
    const top = cost(header);
    if (top > max / 2 || rows.length < 3) return yield* fill(text, [lines, phrases, words, sliced], false);
    yield flush();
    add(header, top);
    for (const row of rows.slice(2)) {
      const rowSize = cost(row);
      if (tokens + rowSize > max && top + rowSize <= max) {
        yield flush();
        add(header, top);
      }
      yield* fill(row, [phrases, words, sliced], false);
    }
  }

  const sliced: Split = (text) => slices(text, Math.floor(max / 4));
  for (const { kind, text } of blocksOf(section)) {
    if (kind === "table") yield* fillTable(text);
    else if (kind === "code") yield* fill(text, [lines, phrases, words, sliced], false);
    else yield* fill(text, [sentences, phrases, words, sliced], true);
  }
  yield current;
}

/** The last whole sentences of a chunk, or words, that fit. */
function endOf(text: string, room: number, count: Count): { text: string; tokens: number } {
  if (room <= 0) return { text: "", tokens: 0 };
  const start = Math.max(0, text.length - 8 * room);
  for (const split of [sentences, words]) {
    // The first may be cut.
    const pieces = split(text.slice(start)).slice(start === 0 ? 0 : 1);
    let [kept, tokens] = ["", 0];
    for (const piece of pieces.reverse()) {
      const size = count(piece);
      if (tokens + size > room) break;
      kept = piece + kept;
      tokens += size;
    }
    if (kept.trim() !== "") return { text: kept, tokens };
  }
  return { text: "", tokens: 0 };
}

/** Parts may count to less than their whole, once in a while: what is over is halved. */
function within(text: string, max: number, count: Count): { text: string; tokens: number }[] {
  const whole = text.trim();
  if (whole === "") return [];
  const tokens = count(whole);
  if (tokens <= max || whole.length < 2) return [{ text: whole, tokens }];
  const [half = "", ...rest] = slices(whole, Math.ceil(whole.length / 2));
  return [half, rest.join("")].flatMap((part) => within(part, max, count));
}
