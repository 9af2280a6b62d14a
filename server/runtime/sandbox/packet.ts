/**
 * Packets of a child in this order: ready, started, then for a program any number of outputs, result and files, for a
 * document its progress and its chunks, for a capsule its rows, for pages their images or their text, and ended. A program that shares its folder also sends the files that it changed,
 * the paths that it removed and its variables; before those it says that it saves them.
 */
export const packetKinds = [
  "ready",
  "started",
  "stdout",
  "stderr",
  "result",
  "file",
  "ended",
  "chunks",
  "rows",
  "image",
  "progress",
  "page",
  "changed",
  "removed",
  "saving",
  "variables",
] as const;
type PacketKind = (typeof packetKinds)[number];

export interface Packet {
  kind: PacketKind;
  payload: Uint8Array<ArrayBuffer>;
}

const head = 5;

/** Encodes a packet: one byte for the kind, four for the length, and the payload. */
export function encodePacket(kind: PacketKind, payload: Uint8Array = new Uint8Array()): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(head + payload.length);
  bytes[0] = packetKinds.indexOf(kind);
  new DataView(bytes.buffer).setUint32(1, payload.length, true);
  bytes.set(payload, head);
  return bytes;
}

/**
 * Decodes packets from pieces of any size. Throws on an invalid packet, and so buffers at most one of `limit` bytes.
 */
export function packetReader(limit: number): (piece: Uint8Array) => Packet[] {
  let buffer = new Uint8Array(0);
  let size = 0;
  return (piece) => {
    buffer = append(buffer, size, piece);
    size += piece.length;
    const packets: Packet[] = [];
    let at = 0;
    for (let end = endOfPacket(buffer, at, size, limit); end <= size; end = endOfPacket(buffer, at, size, limit)) {
      packets.push({ kind: kindOf(buffer[at]), payload: buffer.slice(at + head, end) });
      at = end;
    }
    buffer.copyWithin(0, at, size);
    size -= at;
    return packets;
  };
}

/** Appends by doubling the buffer, so that a child that sends single bytes is not expensive. */
function append(held: Uint8Array<ArrayBuffer>, size: number, piece: Uint8Array): Uint8Array<ArrayBuffer> {
  const fits = size + piece.length <= held.length;
  const room = fits ? held : new Uint8Array(Math.max(2 * held.length, size + piece.length));
  if (!fits) room.set(held.subarray(0, size));
  room.set(piece, size);
  return room;
}

/** Returns the end of the packet; infinite if its head is incomplete. */
function endOfPacket(held: Uint8Array<ArrayBuffer>, at: number, size: number, limit: number): number {
  if (size - at < head) return Number.POSITIVE_INFINITY;
  kindOf(held[at]);
  const length = new DataView(held.buffer).getUint32(at + 1, true);
  if (length > limit) throw new Error("The child sent a packet that is too long.");
  return at + head + length;
}

function kindOf(byte: number | undefined): PacketKind {
  const kind = packetKinds[byte ?? -1];
  if (kind === undefined) throw new Error("The child sent what is no packet.");
  return kind;
}
