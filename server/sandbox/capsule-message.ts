/** One row of a capsule on its way out of the child, in this order: agents, and each run with its entries. */
export type CapsuleRow =
  | ["agent", hash: string, snapshot: string]
  | ["run", run_id: string, parent_run_id: string | null, agent_hash: string]
  | ["entry", seq: number, at_ms: number, event: string]
  /** What the event before it goes on with: no message is longer than a child may speak at once. */
  | ["more", event: string];

/** How a child ends: what is wrong with the capsule, or null. */
export interface CapsuleEnd {
  error: string | null;
}

/** How many bytes come behind this. */
export function encodeCapsuleHead(bytes: number): Uint8Array {
  const head = new Uint8Array(4);
  new DataView(head.buffer).setUint32(0, bytes, true);
  return head;
}

/** The same at the other end. Null: the server wants nothing any more. */
export function decodeCapsuleHead(read: (length: number) => Uint8Array<ArrayBuffer> | null): number | null {
  const head = read(4);
  return head && new DataView(head.buffer).getUint32(0, true);
}

/** How many characters go into one message of rows, about. */
export const rowBatch = 256 * 1024;
