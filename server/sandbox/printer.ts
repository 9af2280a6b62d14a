import { bounds } from "./bounds.ts";
import { encodePacket } from "./packet.ts";
import { writeOutput } from "./pipes.ts";

const piece = 4096;
const pause_ms = 50;

/**
 * Sends what a program prints: the first of it at once, so that it is known of a program that had to be killed, and
 * the rest in pieces. `flush` sends what is left and tells whether anything was dropped.
 */
export function printer(kind: "stdout" | "stderr") {
  let room = bounds.printed;
  let dropped = false;
  let held: Uint8Array[] = [];
  let size = 0;
  let sent = Number.NEGATIVE_INFINITY;
  const send = () => {
    if (size > 0) writeOutput(encodePacket(kind, Buffer.concat(held)));
    [held, size, sent] = [[], 0, performance.now()];
  };
  return {
    print(text: string): void {
      // A character has at most three bytes for each of its units: what is over the bound is never encoded.
      const bytes = new TextEncoder().encode(text.slice(0, room));
      const fitting = bytes.subarray(0, room);
      dropped ||= text.length > room || bytes.length > room;
      if (fitting.length === 0) return;
      held.push(fitting);
      size += fitting.length;
      room -= fitting.length;
      if (size >= piece || performance.now() - sent > pause_ms) send();
    },
    flush(): boolean {
      send();
      return dropped;
    },
  };
}
