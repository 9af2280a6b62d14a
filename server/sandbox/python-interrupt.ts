import type { Interpreter } from "./python-interpreter.ts";

const SIGINT = 2;
const again_ms = 100;

/**
 * Interrupts the program at its deadline, as Ctrl-C would, and again should it catch that: what it printed and wrote
 * before is then not lost, as it is when its process is killed. The answer stops this, and tells whether it happened.
 */
export function interruptAfter(python: Interpreter, timeout_ms: number): () => boolean {
  let next = performance.now() + timeout_ms;
  let interrupted = false;
  // The interpreter reads this between the program's instructions, where others let a second thread write to it.
  const signals = {
    get 0(): number {
      if (performance.now() < next) return 0;
      next += again_ms;
      interrupted = true;
      return SIGINT;
    },
    set 0(_: number) {},
  };
  python.setInterruptBuffer(signals as unknown as Uint8Array);
  return () => {
    next = Number.POSITIVE_INFINITY;
    return interrupted;
  };
}
