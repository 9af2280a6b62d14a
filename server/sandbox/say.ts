import type { DropPrivileges } from "./drop-privileges.ts";
import { decodeHead } from "./head.ts";
import { encodePacket, type Packet } from "./packet.ts";
import { readInput, writeOutput } from "./pipes.ts";

/** Says something as JSON, or only that it is so. */
export const say = (kind: Packet["kind"], value?: unknown): void =>
  writeOutput(encodePacket(kind, value === undefined ? undefined : Buffer.from(JSON.stringify(value))));

/** How many characters go into one message of a batch, about: no message is longer than a child may speak at once. */
export const batchSize = 256 * 1024;

/** Says parts of an answer, many of them in one message. */
export function createBatches<Part>(kind: "chunks" | "rows") {
  let batch: Part[] = [];
  let size = 0;
  const flush = () => {
    if (batch.length > 0) say(kind, batch);
    [batch, size] = [[], 0];
  };
  const add = (part: Part, length: number) => {
    batch.push(part);
    size += length;
    if (size > batchSize) flush();
  };
  return { add, flush };
}

/** The second life of a child that has loaded what it reads with: waits for one thing, says what it makes of it, exits. */
export async function serveContent<Head extends { bytes: number }>(
  dropPrivileges: DropPrivileges,
  read: (bytes: Uint8Array<ArrayBuffer>, head: Head) => unknown,
): Promise<never> {
  dropPrivileges();
  say("ready");
  const head = decodeHead<Head>(readInput);
  if (head === null) process.exit(0);
  say("started");
  const bytes = readInput(head.bytes);
  if (bytes === null) process.exit(0);
  say("ended", await read(bytes, head));
  process.exit(0);
}
