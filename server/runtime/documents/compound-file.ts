import { tooLarge, unreadable } from "./document-error.ts";

/** A storage (folder) of a compound file: its streams and storages by name. */
export interface Storage {
  streams: Map<string, () => Uint8Array>;
  storages: Map<string, Storage>;
}

const entrySize = 128;
const entriesMost = 100_000;
const [isStorage, isStream] = [1, 2];
const [noEntry, lastSector] = [0xffffffff, 0xfffffffa];
const miniSize = 64;

/**
 * Opens a compound file (MS-CFB), the container of Outlook and of Office before 2007. Each sector is read once at most,
 * so that a file can neither claim more bytes than it has nor contain an endless chain.
 */
export function openCompoundFile(bytes: Uint8Array): Storage {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  if (bytes.length < 512 || view.getUint32(0) !== 0xd0cf11e0) throw unreadable("It is not a compound file.");
  const shift = view.getUint16(30, true);
  if (shift !== 9 && shift !== 12) throw damaged();
  const size = 2 ** shift;
  const count = Math.ceil(bytes.length / size) - 1;
  const usedSectors = new Uint8Array(count);
  const sector = (number: number): Uint8Array => {
    if (number >= count || usedSectors[number]) throw damaged();
    usedSectors[number] = 1;
    return bytes.subarray((number + 1) * size, (number + 2) * size);
  };

  const allocation = openTable();
  const next = (number: number) => allocation[number] ?? noEntry;
  const chain = (first: number) => join(first, next, sector);
  const directory = chain(view.getUint32(48, true));
  const root = entryAt(0);
  const miniTable = numbersIn(chain(view.getUint32(60, true)));
  const miniStream = chain(root.start);
  const miniTaken = new Uint8Array(Math.ceil(miniStream.length / miniSize));
  const miniSector = (number: number): Uint8Array => {
    if (number >= miniTaken.length || miniTaken[number]) throw damaged();
    miniTaken[number] = 1;
    return miniStream.subarray(number * miniSize, (number + 1) * miniSize);
  };
  const smallest = view.getUint32(56, true);
  return storageOf(root.child);

  /** Reads the sector allocation table. Its first 109 sectors are listed in the header, the others in a chain. */
  function openTable(): Uint32Array {
    const places = Array.from({ length: 109 }, (_, index) => view.getUint32(76 + 4 * index, true));
    for (let at = view.getUint32(68, true); at < lastSector; ) {
      const more = numbersIn(sector(at));
      places.push(...more.subarray(0, -1));
      at = more.at(-1) ?? noEntry;
    }
    return numbersIn(concat(places.filter((place) => place < lastSector).map(sector)));
  }

  function entryAt(index: number) {
    const at = index * entrySize;
    if (at + entrySize > directory.length) throw damaged();
    const entry = new DataView(directory.buffer, directory.byteOffset + at, entrySize);
    const name = new TextDecoder("utf-16le").decode(
      directory.subarray(at, at + Math.min(64, entry.getUint16(64, true))),
    );
    const numberAt = (offset: number): number => entry.getUint32(offset, true);
    return {
      name: name.replace(/\0.*/s, ""),
      type: entry.getUint8(66),
      left: numberAt(68),
      right: numberAt(72),
      child: numberAt(76),
      start: numberAt(116),
      length: numberAt(120),
    };
  }

  function storageOf(child: number): Storage {
    const whole: Storage = { streams: new Map(), storages: new Map() };
    const seen = new Set<number>();
    const left: [number, Storage][] = [[child, whole]];
    for (let found = left.pop(); found; found = left.pop()) {
      const [index, { streams, storages }] = found;
      if (index === noEntry) continue;
      if (seen.has(index)) throw damaged();
      if (seen.add(index).size > entriesMost) throw tooLarge(`It holds more than ${entriesMost} entries.`);
      const entry = entryAt(index);
      left.push([entry.left, found[1]], [entry.right, found[1]]);
      if (entry.type === isStream) streams.set(entry.name, () => read(entry));
      if (entry.type !== isStorage) continue;
      const inner: Storage = { streams: new Map(), storages: new Map() };
      storages.set(entry.name, inner);
      left.push([entry.child, inner]);
    }
    return whole;
  }

  function read({ start, length }: { start: number; length: number }): Uint8Array {
    if (length === 0) return new Uint8Array();
    const isMini = length < smallest;
    const all = isMini ? join(start, (number) => miniTable[number] ?? noEntry, miniSector) : chain(start);
    return all.subarray(0, length);
  }
}

const damaged = () => unreadable("It is damaged.");

/** Concatenates a chain of sectors. `sector` returns each sector once only, so that a cyclic chain is detected. */
function join(first: number, next: (number: number) => number, sector: (number: number) => Uint8Array): Uint8Array {
  const pieces: Uint8Array[] = [];
  for (let at = first; at < lastSector; at = next(at)) pieces.push(sector(at));
  return concat(pieces);
}

const concat = (pieces: Uint8Array[]): Uint8Array => new Uint8Array(Buffer.concat(pieces));

function numbersIn(bytes: Uint8Array): Uint32Array {
  const whole = bytes.slice(0, bytes.length - (bytes.length % 4));
  return new Uint32Array(whole.buffer, 0, whole.length / 4);
}
