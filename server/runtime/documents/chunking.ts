import type { Chunking } from "../../domain/chunking.ts";
import { type Box, boxesWithin } from "./boxes.ts";
import type { Section } from "./outline.ts";
import { blocksOf, definitions, lines, phrases, sentences, slices, words } from "./text-pieces.ts";

/** A piece of a document, as stored and searched. */
export interface DocumentChunk {
  text: string;
  tokens: number;
  page: number | null;
  heading: string | null;
  /** Boxes of its text on the page, if known. */
  boxes?: readonly Box[];
  /** Text that was read from an image, and may contain errors. */
  source?: "ocr";
}

type Split = (text: string) => string[];
/** Counts the tokens of a text. */
export type Count = (text: string) => number;

/**
 * Cuts sections into chunks of at most `max_chunk_size_tokens`: always at headings and pages, then at paragraphs,
 * sentences and words. A chunk begins with the end of the previous one, as far as the overlap and the limit allow.
 */
export function* chunkSections(
  sections: readonly Section[],
  chunking: Chunking,
  count: Count,
): Generator<DocumentChunk> {
  for (const section of withTitles(sections)) {
    const { page, heading, places, source, isCode = false } = section;
    for (const { text, from, to } of cutSection(section, chunking, count)) {
      const more = { ...(places && { boxes: boxesWithin(places, from, to) }), ...(source && { source }) };
      const trimmed = isCode ? text.replace(/^(?:[ \t]*\n)+/, "").trimEnd() : text.trim();
      yield* splitToFit(trimmed, chunking.max_chunk_size_tokens, count).map((part) => ({
        ...part,
        page,
        heading,
        ...more,
      }));
    }
  }
}

/** Joins a section that consists only of its title to the next one, because a title alone is no useful chunk. */
function withTitles(sections: readonly Section[]): Section[] {
  const joined: Section[] = [];
  let title: Section | null = null;
  for (const section of sections) {
    const fits: boolean = title !== null && title.page === section.page && !section.isCode;
    if (title && !fits) joined.push(title);
    const whole: Section = title && fits ? under(title, section) : section;
    title = isOnlyTitle(whole) ? whole : null;
    if (title === null) joined.push(whole);
  }
  return title ? [...joined, title] : joined;
}

function under(title: Section, { text, places, ...section }: Section): Section {
  const offset = title.text.length + 2;
  const moved = [...(title.places ?? []), ...(places ?? []).map(({ at, box }) => ({ at: at + offset, box }))];
  return { ...section, text: `${title.text}\n\n${text}`, ...(moved.length > 0 ? { places: moved } : {}) };
}

const isOnlyTitle = ({ text, isCode }: Section): boolean =>
  !isCode && text.length < 500 && text.split("\n").every((line) => line === "" || /^#{1,6} /.test(line));

/** A piece of a section: its text, and where it begins and ends in the section. */
interface Piece {
  text: string;
  from: number;
  to: number;
}

function* cutSection(section: Section, chunking: Chunking, count: Count): Generator<Piece> {
  const { max_chunk_size_tokens: max, chunk_overlap_tokens: overlap } = chunking;
  let [current, tokens] = ["", 0];
  // `taken` is the number of characters already in a piece, `from` the first character of the current piece.
  let [position, from] = [0, 0];
  /** Text far above the limit is not counted, because counting it would be slow. */
  const cost = (text: string) => (text.length > 20 * max ? Number.POSITIVE_INFINITY : count(text));
  /** Adds text that a piece already contains, without advancing in the section. */
  const repeat = (text: string, size: number) => {
    current += text;
    tokens += size;
  };
  const add = (text: string, size: number) => {
    repeat(text, size);
    position += text.length;
  };
  const flush = (): Piece => {
    const done = { text: current, from, to: position };
    [current, tokens, from] = ["", 0, position];
    return done;
  };

  function* fill(text: string, splits: readonly Split[], mayTear: boolean): Generator<Piece> {
    const size = cost(text);
    if (tokens + size <= max) return add(text, size);
    const [split, ...finer] = splits;
    if (split && (size > max || (mayTear && tokens < max / 4))) {
      for (const piece of split(text)) yield* fill(piece, finer, false);
      return;
    }
    const done = flush();
    yield done;
    const tail = endOf(done.text, Math.min(overlap, max - size), count, section.isCode ? [lines] : [sentences, words]);
    repeat(tail.text, tail.tokens);
    from -= tail.text.length;
    add(text, size);
  }

  /** Cuts a table by rows and repeats its header in each chunk. */
  function* fillTable(text: string): Generator<Piece> {
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
        repeat(header, top);
      }
      yield* fill(row, [phrases, words, sliced], false);
    }
  }

  const sliced: Split = (text) => slices(text, Math.floor(max / 4));
  const blocks = section.isCode ? ([{ kind: "source", text: section.text }] as const) : blocksOf(section.text);
  for (const { kind, text } of blocks) {
    if (kind === "table") yield* fillTable(text);
    else if (kind === "source") yield* fill(text, [definitions, lines, phrases, words, sliced], false);
    else if (kind === "code") yield* fill(text, [lines, phrases, words, sliced], false);
    else yield* fill(text, [sentences, phrases, words, sliced], true);
  }
  yield flush();
}

/** Returns the last whole pieces of a chunk that fit into `room` tokens, by the first split that has any. */
function endOf(text: string, room: number, count: Count, splits: readonly Split[]): { text: string; tokens: number } {
  if (room <= 0) return { text: "", tokens: 0 };
  const start = Math.max(0, text.length - 8 * room);
  for (const split of splits) {
    // Drop the first piece if it may be incomplete.
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

/** Halves a text until each part fits: joined pieces can have more tokens than the sum of their counts. */
function splitToFit(text: string, max: number, count: Count): { text: string; tokens: number }[] {
  if (text.trim() === "") return [];
  const tokens = count(text);
  if (tokens <= max || text.length < 2) return [{ text, tokens }];
  const [half = "", ...rest] = slices(text, Math.ceil(text.length / 2));
  return [half, rest.join("")].flatMap((part) => splitToFit(part.trim(), max, count));
}
