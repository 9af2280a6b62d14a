import type { Piece } from "./output-guard.ts";

// Number of deltas after which they are merged: each costs more than its text to append and to read.
const many = 4096;
// After that, the interval in ms is the number of deltas divided by this.
const perMillisecond = 1024;

/**
 * Forwards the pieces of an answer at once; after 4,096 of them merges those within a growing interval. A million
 * deltas thus become about ten thousand.
 */
export function coalesceDeltas(pass: (piece: Piece) => void) {
  let count = 0;
  let open: Piece | null = null;
  let timer: Timer | null = null;

  function passOn(piece: Piece): void {
    count++;
    pass(piece);
  }

  function flush(): void {
    if (timer) clearTimeout(timer);
    const piece = open;
    [timer, open] = [null, null];
    if (piece) passOn(piece);
  }

  return {
    push(piece: Piece): void {
      if (count < many) {
        passOn(piece);
        return;
      }
      if (open && (open.part !== piece.part || open.kind !== piece.kind)) flush();
      open = open ? { ...open, text: open.text + piece.text } : piece;
      timer ??= setTimeout(flush, count / perMillisecond);
    },
    /** Forwards the merged piece now. */
    flush,
  };
}
