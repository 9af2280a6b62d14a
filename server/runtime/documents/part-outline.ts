import { documentBounds } from "./bounds.ts";
import type { PlacedLine } from "./boxes.ts";
import { tooLarge } from "./document-error.ts";
import type { Outline } from "./outline.ts";

const deepest = 6;

/**
 * Returns the outline of a part under a heading of this level. Its pages and boxes are left out, because they are not
 * those of the document; its warnings begin with its name and page.
 */
export function partOutline(outline: Outline, level: number, name: string): Outline {
  let page: number | null = null;
  return {
    heading: (inner, title) => outline.heading(Math.min(deepest, level + inner), plain(title)),
    lines: (lines) => outline.block(plain(lines)),
    block: outline.block,
    code: outline.code,
    page(number, { forgotten = false } = {}) {
      page = number;
      if (forgotten) outline.leave(level + 1);
    },
    leave: (inner = 1) => outline.leave(Math.min(deepest, level + inner)),
    warn: (code, message) => outline.warn(code, `${name}${page === null ? "" : `, page ${page}`}: ${message}`),
    encodedAs() {},
    report: outline.report,
    close: outline.close,
  };
}

/** Returns the outline of a text whose headings are below this level. */
export const outlineBelow = (outline: Outline, level: number): Outline => ({
  ...outline,
  heading: (inner, title) => outline.heading(Math.min(deepest, level + inner), title),
  leave: (inner = 1) => outline.leave(level + inner),
});

const plain = (text: string | readonly PlacedLine[]): string =>
  typeof text === "string" ? text : text.map((line) => line.text.replaceAll("\n", " ")).join("\n");

/** Text of a part that is kept until it is known whether and where the document has it. */
export interface PartText {
  outline: Outline;
  text(): string;
  writeTo(outline: Outline): void;
}

export function openPartText(): PartText {
  const writes: ((outline: Outline) => void)[] = [];
  const texts: string[] = [];
  let size = 0;
  const add = (text: string, write: (outline: Outline) => void) => {
    size += text.length;
    if (size > documentBounds.text) throw tooLarge(`It holds more than ${documentBounds.text} bytes of text.`);
    texts.push(text);
    writes.push(write);
  };
  const outline: Outline = {
    heading: (level, title) => add(plain(title), (to) => to.heading(level, title)),
    lines: (lines) => add(plain(lines), (to) => to.lines(lines)),
    block: (text) => add(text, (to) => to.block(text)),
    code: (text) => add(text, (to) => to.code(text)),
    page: (...given) => void writes.push((to) => to.page(...given)),
    leave: (level) => void writes.push((to) => to.leave(level)),
    warn: (...given) => void writes.push((to) => to.warn(...given)),
    encodedAs: (name) => void writes.push((to) => to.encodedAs(name)),
    report: () => ({ characters: size, encoding: null, warnings: [] }),
    close: () => [],
  };
  return {
    outline,
    text: () => texts.join("\n"),
    writeTo(to) {
      for (const write of writes) write(to);
    },
  };
}
