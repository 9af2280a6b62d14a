import type { Piece } from "./screen.ts";

// With so many of them each costs more than it says, wherever it is written down and read again.
const many = 4096;
// Of those behind them, a moment is as many milliseconds as there were thousands.
const perMillisecond = 1024;

/**
 * Passes on the pieces of an answer as they come; of very many those of a moment as one. The more there were, the longer
 * the moment: a million of them take no more room than some ten thousand.
 */
export function gathered(pass: (piece: Piece) => void) {
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
    /** What is gathered goes now. */
    flush,
  };
}
