import type { DropPrivileges } from "./drop-privileges.ts";
import { decodeFrameHeader } from "./frame-header.ts";
import { encodePacket, type Packet } from "./packet.ts";
import { readInput, writeOutput } from "./pipes.ts";

/** Writes a packet with an optional JSON value. */
export const writeMessage = (kind: Packet["kind"], value?: unknown): void =>
  writeOutput(encodePacket(kind, value === undefined ? undefined : Buffer.from(JSON.stringify(value))));

/** Approximate characters per message of a batch, below the maximum packet of a child. */
export const batchSize = 256 * 1024;

/** Writes parts of an answer in batches. */
export function createBatches<Part>(kind: "chunks" | "rows") {
  let batch: Part[] = [];
  let size = 0;
  const flush = () => {
    if (batch.length > 0) writeMessage(kind, batch);
    [batch, size] = [[], 0];
  };
  const add = (part: Part, length: number) => {
    batch.push(part);
    size += length;
    if (size > batchSize) flush();
  };
  return { add, flush };
}

/** Runs a child whose parsers are loaded: reads one content, writes the answer and exits. */
export async function serveContent<Head extends { bytes: number }>(
  dropPrivileges: DropPrivileges,
  read: (bytes: Uint8Array<ArrayBuffer>, head: Head) => unknown,
): Promise<never> {
  dropPrivileges();
  writeMessage("ready");
  const head = decodeFrameHeader<Head>(readInput);
  if (head === null) process.exit(0);
  writeMessage("started");
  const bytes = readInput(head.bytes);
  if (bytes === null) process.exit(0);
  writeMessage("ended", await read(bytes, head));
  process.exit(0);
}
