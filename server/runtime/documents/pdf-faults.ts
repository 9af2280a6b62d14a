import { AsyncLocalStorage } from "node:async_hooks";
import { hasNonsense, nonsense } from "./pdf-glyph-names.ts";
import type { PdfItem } from "./pdf-item.ts";

/** Hears PDF.js's warnings while it reads. */
const listener = new AsyncLocalStorage<(message: string) => void>();
let isListening = false;

/** PDF.js reports only on the console that it skipped text, and goes on. */
const skipped = /translateFont failed|loadFont - |getTextContent - ignoring/;

/** Keeps PDF.js's warnings off the console: a document could fill the log with them. */
export function withoutWarnings<T>(read: () => T): T {
  listen();
  return listener.run(() => {}, read);
}

/** Returns what `read` returns, and if PDF.js left out text meanwhile, for a font or a part that it cannot read. */
export async function hearSkipped<T>(read: () => Promise<T>): Promise<{ result: T; isSkipped: boolean }> {
  listen();
  let isSkipped = false;
  const hear = (message: string): void => {
    isSkipped ||= skipped.test(message);
  };
  const result = await listener.run(hear, read);
  return { result, isSkipped };
}

function listen(): void {
  if (isListening) return;
  isListening = true;
  const { warn } = console;
  console.warn = (...words: unknown[]) => {
    const hear = listener.getStore();
    if (hear) hear(String(words[0]));
    else warn(...words);
  };
}

const [fewest, share] = [3, 0.05];

/** True if the items of one font read as nonsense, bullets and pictures of symbol fonts aside: what the page shows is not known. */
export function isUnreadable(items: readonly PdfItem[]): boolean {
  if (!items.some(({ str }) => hasNonsense(str))) return false;
  return [...Map.groupBy(items, ({ fontName }) => fontName).values()].some((ofFont) => {
    const text = ofFont.map(({ str }) => str.replace(/[\uf000-\uf0ff\s]/g, "")).join("");
    const count = text.match(nonsense)?.length ?? 0;
    return count >= fewest && count > share * text.length;
  });
}
