import { inflateRawSync } from "node:zlib";
import { DocumentError, tooLarge, unreadable } from "./document-error.ts";

// Our own, because fflate does not tell which entries are encrypted, cuts an entry to the size that it declares, and
// inflates in JavaScript, which takes seven times as long.
export interface Archive {
  /** Returns the bytes of an entry, or null if there is none of this name. */
  read(name: string): Uint8Array | null;
}

const entriesLimit = 20_000;
/** Total of unpacked bytes of all entries: an office file with 20 MB of text has fewer. */
const unpackedLimit = 200 * 2 ** 20;
const [stored, deflated] = [0, 8];

interface Entry {
  method: number;
  encrypted: boolean;
  start: number;
  packed: number;
  unpacked: number;
}

/**
 * An archive in memory. Entries are found by the central directory only, and unpacked on demand up to what is left of
 * one limit for all, because declared sizes cannot be trusted.
 */
export function openZip(bytes: Uint8Array): Archive {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const entries = catchDamage(() => directoryOf(bytes, view));
  let room = unpackedLimit;
  return {
    read(name) {
      const entry = entries.get(name);
      if (!entry) return null;
      const content = catchDamage(() => unpack(bytes, view, entry, room));
      room -= content.length;
      return content;
    },
  };
}

function directoryOf(bytes: Uint8Array, view: DataView): Map<string, Entry> {
  const end = endRecord(view);
  const count = view.getUint16(end + 10, true);
  let at = view.getUint32(end + 16, true);
  if (count > entriesLimit) throw tooLarge(`The archive has more than ${entriesLimit} entries.`);
  const entries = new Map<string, Entry>();
  for (let left = count; left > 0; left--) {
    if (view.getUint32(at, true) !== 0x02014b50) throw unreadable("Its archive is damaged.");
    const [name, extra, comment] = [28, 30, 32].map((field) => view.getUint16(at + field, true)) as [
      number,
      number,
      number,
    ];
    entries.set(new TextDecoder().decode(bytes.subarray(at + 46, at + 46 + name)).replace(/^\//, ""), {
      encrypted: (view.getUint16(at + 8, true) & 1) === 1,
      method: view.getUint16(at + 10, true),
      packed: view.getUint32(at + 20, true),
      unpacked: view.getUint32(at + 24, true),
      start: view.getUint32(at + 42, true),
    });
    at += 46 + name + extra + comment;
  }
  return entries;
}

/** Returns the offset of the end-of-directory record, which a comment of up to 64 KB may follow. */
function endRecord(view: DataView): number {
  for (let at = view.byteLength - 22; at >= Math.max(0, view.byteLength - 65_557); at--) {
    if (view.getUint32(at, true) === 0x06054b50) return at;
  }
  throw unreadable("It is not an archive, or it is incomplete.");
}

function unpack(bytes: Uint8Array, view: DataView, entry: Entry, room: number): Uint8Array {
  if (entry.encrypted) throw new DocumentError("document_encrypted", "The document is encrypted.");
  if (view.getUint32(entry.start, true) !== 0x04034b50) throw unreadable("Its archive is damaged.");
  const from = entry.start + 30 + view.getUint16(entry.start + 26, true) + view.getUint16(entry.start + 28, true);
  const packed = bytes.subarray(from, from + entry.packed);
  if (entry.unpacked > room || packed.length > room) throw bomb();
  if (entry.method === stored) return packed;
  if (entry.method !== deflated) throw unreadable("Its archive uses an unsupported compression.");
  try {
    return inflateRawSync(packed, { maxOutputLength: Math.max(1, room) });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") throw bomb();
    throw error;
  }
}

const bomb = () => tooLarge(`The document unpacks to more than ${unpackedLimit} bytes.`);

/** Maps all other errors to document_unreadable: offsets of a damaged archive may point outside of it. */
function catchDamage<T>(act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw error instanceof DocumentError ? error : unreadable("Its archive is damaged.");
  }
}
