import type { Detector } from "./detectors.ts";
import type { Scanner, Span } from "./span.ts";

/** Finds the text beyond this many characters; a surrogate pair counts as one. */
export const createLengthDetector = (length: number): Detector => ({
  search(text) {
    if (text.length <= length) return [];
    const scanner = new LengthScanner(length);
    scanner.push(text);
    return scanner.spans;
  },
  scan: () => new LengthScanner(length),
});

class LengthScanner implements Scanner {
  readonly spans: Span[] = [];
  safe = 0;

  constructor(private left: number) {}

  push(text: string): void {
    let index = 0;
    for (; index < text.length && this.left > 0; this.left--) index += text.codePointAt(index)! > 0xffff ? 2 : 1;
    const start = this.safe + index;
    this.safe += text.length;
    if (index === text.length) return;
    const last = this.spans.at(-1);
    if (last) last[1] = this.safe;
    else this.spans.push([start, this.safe]);
  }

  end(): void {
    // Every character is decided when it arrives.
  }
}
