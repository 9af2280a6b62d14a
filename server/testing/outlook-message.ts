/** File system within a file: texts and bytes by name, and folders. */
export interface Folder {
  [name: string]: string | Uint8Array | Folder;
}

const [sectorSize, miniSize, smallest] = [512, 64, 4096];
const [free, end, fat] = [0xffffffff, 0xfffffffe, 0xfffffffd];
const isBytes = (value: Folder[string]): value is Uint8Array => value instanceof Uint8Array;

interface Entry {
  name: string;
  type: 1 | 2 | 5;
  data: Uint8Array;
  right: number;
  child: number;
}

/** Returns a compound file (MS-CFB, version 3), the container of Outlook messages. */
function compoundFileOf(folder: Folder): Uint8Array {
  const entries: Entry[] = [{ name: "Root Entry", type: 5, data: new Uint8Array(), right: free, child: free }];
  fill(entries, 0, folder);
  const sectors: Uint8Array[] = [];
  const next: number[] = [];
  const place = (data: Uint8Array): number => {
    const first = sectors.length;
    for (let at = 0; at < data.length; at += sectorSize) {
      sectors.push(padded(data.subarray(at, at + sectorSize), sectorSize));
      next.push(sectors.length);
    }
    if (sectors.length === first) return end;
    next[sectors.length - 1] = end;
    return first;
  };
  const [minis, miniNext]: [Uint8Array[], number[]] = [[], []];
  const starts = entries.map(({ data, type }) => {
    if (type !== 2 || data.length === 0) return end;
    if (data.length >= smallest) return place(data);
    const first = minis.length;
    for (let at = 0; at < data.length; at += miniSize) {
      minis.push(padded(data.subarray(at, at + miniSize), miniSize));
      miniNext.push(minis.length);
    }
    miniNext[minis.length - 1] = end;
    return first;
  });
  const miniStream = new Uint8Array(Buffer.concat(minis));
  starts[0] = place(miniStream);
  entries[0]!.data = miniStream;
  const miniTable = place(numbers(miniNext));
  const directory = place(
    new Uint8Array(Buffer.concat(entries.map((entry, index) => recordOf(entry, starts[index]!)))),
  );
  const tables = Math.ceil((sectors.length + 1) / (sectorSize / 4 - 1));
  const firstTable = sectors.length;
  const table = numbers([...next, ...Array<number>(tables).fill(fat)], (tables * sectorSize) / 4);
  const header = headerOf({ tables, firstTable, directory, miniTable });
  return new Uint8Array(Buffer.concat([header, ...sectors, table]));
}

function fill(entries: Entry[], parent: number, folder: Folder): void {
  let before: number | null = null;
  for (const [name, value] of Object.entries(folder)) {
    const isFile = typeof value === "string" || isBytes(value);
    const data = typeof value === "string" ? new Uint8Array(Buffer.from(value, "utf16le")) : value;
    const index = entries.length;
    entries.push({
      name,
      type: isFile ? 2 : 1,
      data: isBytes(data) ? data : new Uint8Array(),
      right: free,
      child: free,
    });
    if (before === null) entries[parent]!.child = index;
    else entries[before]!.right = index;
    before = index;
    if (!isFile) fill(entries, index, value as Folder);
  }
}

function recordOf({ name, type, data, right, child }: Entry, start: number): Uint8Array {
  const record = Buffer.alloc(128);
  record.write(name, "utf16le");
  record.writeUInt16LE(2 * name.length + 2, 64);
  record.writeUInt8(type, 66);
  for (const [at, value] of [
    [68, free],
    [72, right],
    [76, child],
    [116, start],
    [120, data.length],
  ] as const)
    record.writeUInt32LE(value, at);
  return new Uint8Array(record);
}

function headerOf(of: { tables: number; firstTable: number; directory: number; miniTable: number }): Uint8Array {
  const header = Buffer.alloc(sectorSize, 0xff);
  header.fill(0, 0, 76);
  header.write("d0cf11e0a1b11ae1", 0, "hex");
  for (const [at, value] of [
    [24, 0x3e],
    [26, 3],
    [28, 0xfffe],
    [30, 9],
    [32, 6],
  ] as const)
    header.writeUInt16LE(value, at);
  const words = [
    [44, of.tables],
    [48, of.directory],
    [56, smallest],
    [60, of.miniTable],
    [68, end],
  ] as const;
  for (const [at, value] of words) header.writeUInt32LE(value, at);
  for (let index = 0; index < of.tables; index++) header.writeUInt32LE(of.firstTable + index, 76 + 4 * index);
  return new Uint8Array(header);
}

const padded = (data: Uint8Array, size: number): Uint8Array => {
  const whole = new Uint8Array(size);
  whole.set(data);
  return whole;
};

function numbers(values: readonly number[], length = values.length): Uint8Array {
  const table = new Uint32Array(length).fill(free);
  table.set(values);
  return new Uint8Array(table.buffer);
}

/** Returns the properties of a part of a message: Unicode texts, numbers and bytes, with the part's children. */
export function propertiesOf(
  values: Record<string, string | number | Date | Uint8Array>,
  head: number,
  more: Folder = {},
): Folder {
  const fixed: Buffer[] = [];
  const folder: Folder = {};
  for (const [id, value] of Object.entries(values)) {
    if (typeof value === "string") folder[`__substg1.0_${id}001F`] = value;
    else if (value instanceof Uint8Array) folder[`__substg1.0_${id}0102`] = value;
    else {
      const entry = Buffer.alloc(16);
      entry.writeUInt32LE(Number.parseInt(`${id}${value instanceof Date ? "0040" : "0003"}`, 16));
      if (value instanceof Date) entry.writeBigUInt64LE((BigInt(value.getTime()) + 11_644_473_600_000n) * 10_000n, 8);
      else entry.writeUInt32LE(value, 8);
      fixed.push(entry);
    }
  }
  return {
    ...folder,
    "__properties_version1.0": new Uint8Array(Buffer.concat([Buffer.alloc(head), ...fixed])),
    ...more,
  };
}

/** Returns an Outlook message: its properties by their numbers, and its recipients and attachments. */
export const messageOf = (values: Parameters<typeof propertiesOf>[0], parts: Folder = {}): Uint8Array =>
  compoundFileOf(propertiesOf(values, 32, parts));
