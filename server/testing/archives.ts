import { deflateRawSync, gzipSync } from "node:zlib";

/** An entry of an archive for tests, which may be hostile. */
export interface TestEntry {
  path: string | Uint8Array;
  content?: string | Uint8Array;
  /** Zip: `st_mode` of Unix. */
  mode?: number;
  isEncrypted?: boolean;
  /** Zip: unpacked size that the directory states, if it is not the real one. */
  stated?: number;
  /** Zip: checksum that the directory states, if it is not the real one. */
  crc?: number;
  /** Tar: its kind; default: a file. */
  type?: string;
  /** Tar: where a link leads. */
  target?: string;
}

const bytesOf = (text: string | Uint8Array = ""): Uint8Array => (typeof text === "string" ? Buffer.from(text) : text);

/** Writes a zip with exactly these entries. */
export function zipOf(entries: readonly TestEntry[]): Uint8Array<ArrayBuffer> {
  const files: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const { path, content, mode = 0, isEncrypted = false, stated, crc } of entries) {
    const [name, data] = [bytesOf(path), bytesOf(content)];
    const packed = deflateRawSync(data);
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt16LE(isEncrypted ? 1 : 0, 2);
    fields.writeUInt16LE(8, 4);
    fields.writeUInt32LE(crc ?? Bun.hash.crc32(data), 10);
    fields.writeUInt32LE(packed.length, 14);
    fields.writeUInt32LE(stated ?? data.length, 18);
    fields.writeUInt16LE(name.length, 22);
    const file = Buffer.concat([Buffer.from("PK\x03\x04"), fields, name, packed]);
    const rest = Buffer.alloc(14);
    rest.writeUInt16LE(mode, 8);
    rest.writeUInt32LE(at, 10);
    directory.push(Buffer.concat([Buffer.from("PK\x01\x02\x14\x03"), fields, rest, name]));
    files.push(file);
    at += file.length;
  }
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06");
  const size = directory.reduce((sum, { length }) => sum + length, 0);
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(size, 12);
  end.writeUInt32LE(at, 16);
  return new Uint8Array(Buffer.concat([...files, ...directory, end]));
}

/** Writes a tar with exactly these entries. */
export function tarOf(entries: readonly TestEntry[]): Uint8Array<ArrayBuffer> {
  const blocks = entries.map(({ path, content, type = "0", target = "" }) => {
    const data = bytesOf(content);
    const head = Buffer.alloc(512);
    head.set(bytesOf(path).subarray(0, 100));
    head.write("0000644\0", 100);
    head.write(`${data.length.toString(8).padStart(11, "0")}\0`, 124);
    head.write("        ", 148);
    head.write(type, 156);
    head.write(target, 157);
    head.write("ustar\x0000", 257);
    const sum = head.reduce((all, byte) => all + byte, 0);
    head.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
    return Buffer.concat([head, data, Buffer.alloc((512 - (data.length % 512)) % 512)]);
  });
  return new Uint8Array(Buffer.concat([...blocks, Buffer.alloc(1024)]));
}

export const tarGzOf = (entries: readonly TestEntry[]): Uint8Array<ArrayBuffer> =>
  new Uint8Array(gzipSync(tarOf(entries)));

/** Returns the text of a `SKILL.md`. */
export const skillText = (name: string, description = "Does things.", body = "# How\n\nDo it well.\n"): string =>
  `---\nname: ${name}\ndescription: ${description}\n---\n${body}`;
