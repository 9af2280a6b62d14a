import { inflateRawSync } from "node:zlib";
import { DocumentError, tooLarge, unreadable } from "./document-error.ts";

// Our own, because fflate does not tell which entries are encrypted, cuts an entry to the size that it declares, and
// inflates in JavaScript, which takes seven times as long.
export interface Archive {
  has(name: string): boolean;
  /** Returns the bytes of an entry, or null if there is none of this name. */
  read(name: string): Uint8Array | null;
}

const entriesLimit = 20_000;
/** Total of unpacked bytes of all entries: an office file with 20 MB of text has fewer. */
const unpackedLimit = 200 * 2 ** 20;
/** Most bytes from the end record on: the record, and its comment. */
const trailingMost = 65_557;
const [stored, deflated] = [0, 8];
const [localMark, directoryMark, end64Mark] = [0x04034b50, 0x02014b50, 0x06064b50];
/** A field with this value has its real value in the fields for large archives (ZIP64). */
const inZip64 = 0xffffffff;

interface Entry {
  method: number;
  encrypted: boolean;
  start: number;
  packed: number;
  unpacked: number;
}

/** An entry of the central directory as it stands there, for readers that trust none of it. */
export interface RawEntry extends Entry {
  /** Bytes of its name. */
  name: Uint8Array;
  crc: number;
  /** Type and permissions of Unix (`st_mode`); null if the archive comes from a system without them. */
  mode: number | null;
}

/**
 * An archive in memory. Entries are found by the central directory only, and unpacked on demand up to what is left of
 * one limit for all, because declared sizes cannot be trusted.
 */
export function openZip(bytes: Uint8Array): Archive {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const entries = catchDamage(() => directoryOf(bytes, view));
  // Names of parts are equal if they differ in case only; some programs write them otherwise than they refer to them.
  const byLowerCase = new Map([...entries].map(([name, entry]) => [name.toLowerCase(), entry]));
  const find = (name: string) => entries.get(name) ?? byLowerCase.get(name.toLowerCase());
  let room = unpackedLimit;
  return {
    has: (name) => find(name) !== undefined,
    read(name) {
      const entry = find(name);
      if (!entry) return null;
      const content = catchDamage(() => unpack(bytes, view, entry, room));
      room -= content.length;
      return content;
    },
  };
}

function directoryOf(bytes: Uint8Array, view: DataView): Map<string, Entry> {
  const entries = new Map<string, Entry>();
  for (const entry of rawEntries(bytes, view)) entries.set(plainName(new TextDecoder().decode(entry.name)), entry);
  return entries;
}

const unixSystems = new Set([3, 19]);

function* rawEntries(bytes: Uint8Array, view: DataView): Generator<RawEntry> {
  const { count, start, shift } = endRecord(bytes, view);
  let at = start;
  if (count > entriesLimit) throw tooLarge(`The archive has more than ${entriesLimit} entries.`);
  for (let left = count; left > 0; left--) {
    if (view.getUint32(at, true) !== directoryMark) throw unreadable("Its archive is damaged.");
    const [name, extra, comment] = [28, 30, 32].map((field) => view.getUint16(at + field, true)) as [
      number,
      number,
      number,
    ];
    const [unpacked, packed, offset] = sizesOf(view, at, at + 46 + name, extra);
    yield {
      name: bytes.subarray(at + 46, at + 46 + name),
      encrypted: (view.getUint16(at + 8, true) & 1) === 1,
      method: view.getUint16(at + 10, true),
      crc: view.getUint32(at + 16, true),
      mode: unixSystems.has(view.getUint8(at + 5)) ? view.getUint16(at + 40, true) : null,
      packed,
      unpacked,
      start: offset + shift,
    };
    at += 46 + name + extra + comment;
  }
}

/**
 * Lists an archive's entries as they stand in its central directory, in its order. `unpackRaw` unpacks one.
 */
export function listRawEntries(bytes: Uint8Array): RawEntry[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return catchDamage(() => [...rawEntries(bytes, view)]);
}

/** Unpacks an entry to at most `room` bytes. Throws if its size or its checksum is another one than stated. */
export function unpackRaw(bytes: Uint8Array, entry: RawEntry, room: number): Uint8Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const content = catchDamage(() => unpack(bytes, view, entry, room));
  if (content.length !== entry.unpacked || Bun.hash.crc32(content) !== entry.crc)
    throw unreadable("Its archive is damaged.");
  return content;
}

/** Some programs write the separators of Windows, or paths from the root or the current folder. */
const plainName = (name: string): string => name.replaceAll("\\", "/").replace(/^(?:\.?\/)+/, "");

/** Returns the unpacked size, the packed size and the offset of a directory entry. */
function sizesOf(view: DataView, entry: number, extraStart: number, extraLength: number): [number, number, number] {
  const sizes: [number, number, number] = [
    view.getUint32(entry + 24, true),
    view.getUint32(entry + 20, true),
    view.getUint32(entry + 42, true),
  ];
  if (!sizes.includes(inZip64)) return sizes;
  for (let at = extraStart; at + 4 <= extraStart + extraLength; at += 4 + view.getUint16(at + 2, true)) {
    if (view.getUint16(at, true) !== 1) continue;
    // Holds the values that do not fit, in this order.
    let next = at + 4;
    for (const [index, size] of sizes.entries()) {
      if (size !== inZip64) continue;
      sizes[index] = Number(view.getBigUint64(next, true));
      next += 8;
    }
    break;
  }
  return sizes;
}

/**
 * Finds the end of the directory, which a comment or other bytes may follow. Bytes before the archive, such as those of
 * a program that unpacks it, shift every offset.
 */
function endRecord(bytes: Uint8Array, view: DataView): { count: number; start: number; shift: number } {
  const end = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).lastIndexOf(Buffer.from("PK\x05\x06"));
  if (end < 0 || end + 22 > bytes.length || bytes.length - end > trailingMost) throw incomplete();
  const [count, size, start] = [
    view.getUint16(end + 10, true),
    view.getUint32(end + 12, true),
    view.getUint32(end + 16, true),
  ];
  const end64 = count === 0xffff || size === inZip64 || start === inZip64 ? end64Record(view, end) : null;
  const stated = end64 ?? { count, size, start, end };
  // The directory stands right before its end record, wherever the archive says that it is.
  const real = stated.end - stated.size;
  const isThere = (at: number) => at >= 0 && at + 4 <= bytes.length && view.getUint32(at, true) === directoryMark;
  if (isThere(stated.start) || !isThere(real)) return { count: stated.count, start: stated.start, shift: 0 };
  // An incomplete archive may hold a complete one, such as a workbook in a text document.
  if (view.getUint32(0, true) === localMark) throw incomplete();
  return { count: stated.count, start: real, shift: real - stated.start };
}

const incomplete = () => unreadable("It is not an archive, or its end is missing.");

/** Returns the end record of a large archive, which its locator before the other end record points to, or null. */
function end64Record(view: DataView, end: number) {
  const locator = end - 20;
  if (locator < 0 || view.getUint32(locator, true) !== 0x07064b50) return null;
  const stated = Number(view.getBigUint64(locator + 8, true));
  // Without the optional fields it stands right before its locator.
  const at = [stated, locator - 56].find(
    (place) => place >= 0 && place + 56 <= view.byteLength && view.getUint32(place, true) === end64Mark,
  );
  if (at === undefined) throw unreadable("Its archive is damaged.");
  const [count, size, start] = [32, 40, 48].map((field) => Number(view.getBigUint64(at + field, true))) as [
    number,
    number,
    number,
  ];
  return { count, size, start, end: at };
}

function unpack(bytes: Uint8Array, view: DataView, entry: Entry, room: number): Uint8Array {
  if (entry.encrypted) throw new DocumentError("document_encrypted", "The document is encrypted.");
  if (view.getUint32(entry.start, true) !== localMark) throw unreadable("Its archive is damaged.");
  const from = entry.start + 30 + view.getUint16(entry.start + 26, true) + view.getUint16(entry.start + 28, true);
  const packed = bytes.subarray(from, from + entry.packed);
  if (entry.unpacked > room || packed.length > room) throw bomb();
  if (entry.method === stored) return packed;
  if (entry.method !== deflated) throw unreadable("Its archive uses an unsupported compression.");
  try {
    return inflate(packed, room);
  } catch (error) {
    if (error instanceof DocumentError || packed.length >= bytes.length - from) throw error;
    // The directory may state a wrong size. The packed data has an end mark of its own.
    return inflate(bytes.subarray(from), room);
  }
}

function inflate(packed: Uint8Array, room: number): Uint8Array {
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
