interface Block {
  kind: "text" | "table" | "code";
  text: string;
}

const isRow = (line: string): boolean => /^\s*\|/.test(line);
const fence = /^\s{0,3}(`{3,}|~{3,})/;

/** Splits Markdown into paragraphs, tables and code blocks. Joined, they are exactly the text. */
export function blocksOf(text: string): Block[] {
  const blocks: Block[] = [];
  let blockLines: string[] = [];
  let kind: Block["kind"] = "text" as Block["kind"];
  let closing: string | null = null;
  const flush = (next: Block["kind"]) => {
    if (blockLines.length > 0) blocks.push({ kind, text: blockLines.join("") });
    [blockLines, kind] = [[], next];
  };
  for (const line of lines(text)) {
    const mark = fence.exec(line)?.[1];
    if (closing !== null) {
      blockLines.push(line);
      if (!mark?.startsWith(closing)) continue;
      closing = null;
      flush("text");
    } else if (mark) {
      flush("code");
      closing = mark;
      blockLines.push(line);
    } else {
      const own = isRow(line) ? "table" : "text";
      if (own !== kind) flush(own);
      blockLines.push(line);
      if (line.trim() === "") flush("text");
    }
  }
  flush("text");
  return blocks;
}

/** Lines with their line ends. */
export const lines = (text: string): string[] => splitAfter(text, /\n/g);

/** Code up to a line without indentation after an empty one: functions, classes and tables of settings. */
export const definitions = (text: string): string[] => splitAfter(text, /\n[ \t]*\n+(?=[^\s})\]])/g);

export const sentences = (text: string): string[] =>
  splitAfter(text, /[.!?…؟۔।]["'”’»)\]]*\s+|[。！？｡][」』”’）]*\s*|\n+/g);

/** Words with the space before them, like tokens. */
export const words = (text: string): string[] => text.match(/\s*\S+|\s+/g) ?? [];

/** Groups of up to 16 words, so that a line of a million words is not counted word by word. */
export const phrases = (text: string): string[] => text.match(/(?:\s*\S+){1,16}\s*|\s+/g) ?? [];

/** Cuts a text into pieces of at most `size` UTF-16 units, never within a surrogate pair. */
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

function splitAfter(text: string, mark: RegExp): string[] {
  const pieces: string[] = [];
  let at = 0;
  for (const { index, 0: found } of text.matchAll(mark)) {
    pieces.push(text.slice(at, index + found.length));
    at = index + found.length;
  }
  if (at < text.length) pieces.push(text.slice(at));
  return pieces;
}
