import type { PagesDone } from "../../runtime/documents/pages-done.ts";

interface PageProgress {
  tell: PagesDone;
  /** Drops what is not written yet. */
  stop(): void;
}

/** Writes how many pages of a document are done, at most once in `every_ms`: the first number at once, then the last. */
export function createPageProgress(write: (done: number, pages: number) => void, every_ms = 1000): PageProgress {
  let latest: [done: number, pages: number] = [0, 0];
  let timer: Timer | undefined;
  let writtenAt = Number.NEGATIVE_INFINITY;
  const flush = () => {
    timer = undefined;
    writtenAt = performance.now();
    write(...latest);
  };
  return {
    tell(done, pages) {
      latest = [done, pages];
      timer ??= setTimeout(flush, Math.max(0, writtenAt + every_ms - performance.now()));
    },
    stop: () => clearTimeout(timer),
  };
}
