interface Block {
  kind: "text" | "table" | "code";
  text: string;
}

const isRow = (line: string): boolean => /^\s*\|/.test(line);
const fence = /^\s{0,3}(`{3,}|~{3,})/;

/** Markdown as its paragraphs, tables and blocks of code. Put together again they are the text, to the last space. */
export function blocksOf(text: string): Block[] {
  const blocks: Block[] = [];
  let held: string[] = [];
  let kind: Block["kind"] = "text" as Block["kind"];
  let closing: string | null = null;
  const flush = (next: Block["kind"]) => {
    if (held.length > 0) blocks.push({ kind, text: held.join("") });
    [held, kind] = [[], next];
  };
  for (const line of lines(text)) {
    const mark = fence.exec(line)?.[1];
    if (closing !== null) {
      held.push(line);
      if (!mark?.startsWith(closing)) continue;
      closing = null;
      flush("text");
    } else if (mark) {
      flush("code");
      closing = mark;
      held.push(line);
    } else {
      const own = isRow(line) ? "table" : "text";
      if (own !== kind) flush(own);
      held.push(line);
      if (line.trim() === "") flush("text");
    }
  }
  flush("text");
  return blocks;
}

/** Each with what ends it. */
export const lines = (text: string): string[] => cutBehind(text, /\n/g);

export const sentences = (text: string): string[] =>
  cutBehind(text, /[.!?…؟۔।]["'”’»)\]]*\s+|[。！？｡][」』”’）]*\s*|\n+/g);

/** Each with the space before it, as tokens are. */
export const words = (text: string): string[] => text.match(/\s*\S+|\s+/g) ?? [];

/** Some words each: a line of a million words is not counted word by word. */
export const phrases = (text: string): string[] => text.match(/(?:\s*\S+){1,16}\s*|\s+/g) ?? [];

/** So many units at most, and never half a character. */
export function slices(text: string, size: number): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length; ) {
    const last = text.charCodeAt(at + size - 1);
    const isTorn = size > 1 && at + size < text.length && last >= 0xd800 && last < 0xdc00;
    const end = at + size - (isTorn ? 1 : 0);
    pieces.push(text.slice(at, end));
    at = end;
  }
  return pieces;
}

function cutBehind(text: string, mark: RegExp): string[] {
  const pieces: string[] = [];
  let at = 0;
  for (const { index, 0: found } of text.matchAll(mark)) {
    pieces.push(text.slice(at, index + found.length));
    at = index + found.length;
  }
  if (at < text.length) pieces.push(text.slice(at));
  return pieces;
}
