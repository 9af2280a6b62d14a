import { skillLimits } from "../../domain/skills.ts";
import { type ArchiveFile, entryName } from "./archive-file.ts";
import { archiveError, entryError } from "./skill-error.ts";

// Our own: libraries unpack to a disk or as a stream, and follow links, which are refused here.

const block = 512;
/** Most bytes of a long name or of extended headers. */
const extendedBytes = 64 * 1024;

const kinds: Record<string, string> = {
  "1": "is a hard link",
  "2": "is a link",
  "3": "is a device",
  "4": "is a device",
  "6": "is a pipe",
  S: "is a sparse file, which is not supported",
};

/** Fields of extended headers, which replace those of the next entry. */
interface Extended {
  path?: string;
  size?: number;
}

/** Lists the files of a tar. Throws for entries that are neither a file nor a folder. */
export function readTar(bytes: Uint8Array): ArchiveFile[] {
  const files: ArchiveFile[] = [];
  let next: Extended = {};
  let entries = 0;
  for (let at = 0; ; ) {
    const head = bytes.subarray(at, at + block);
    if (head.length < block) throw at === 0 ? notOne() : incomplete();
    if (head.every((byte) => byte === 0)) return files;
    if (!isChecked(head)) throw at === 0 ? notOne() : archiveError("is damaged");
    if (++entries > skillLimits.entries) throw archiveError(`has more than ${skillLimits.entries} entries`);
    const type = String.fromCharCode(head[156] ?? 0);
    const path = next.path ?? pathOf(head);
    const size = next.size ?? readOctal(head, 124, 12);
    const from = at + block;
    at = from + Math.ceil(size / block) * block;
    if (from + size > bytes.length) throw incomplete();
    const content = bytes.subarray(from, from + size);
    if (type === "L" || type === "x") {
      next = { ...next, ...extended(type, content) };
      continue;
    }
    // Headers of all entries: a version of git writes the commit in there.
    if (type === "g") continue;
    next = {};
    if (type === "5") continue;
    const fault = kinds[type];
    if (fault) throw entryError(path, fault);
    if (type !== "0" && type !== "\0" && type !== "7") throw entryError(path, "is of a kind that is not supported");
    // Old programs write folders as files whose names end like this.
    if (path.endsWith("/")) continue;
    if (size > skillLimits.file_bytes) throw entryError(path, `has more than ${skillLimits.file_bytes} bytes`);
    files.push({ path, read: () => content });
  }
}

const notOne = () => archiveError("is neither a zip nor a tar nor a tar.gz");
const incomplete = () => archiveError("is incomplete: its end is missing");

/** True if the checksum of a header is right. It counts its own bytes as blanks; some programs sum signed bytes. */
function isChecked(head: Uint8Array): boolean {
  const summed = head.map((byte, at) => (at >= 148 && at < 156 ? 0x20 : byte));
  const stated = octal(head.subarray(148, 156));
  const unsigned = summed.reduce((sum, byte) => sum + byte, 0);
  const signed = new Int8Array(summed).reduce((sum, byte) => sum + byte, 0);
  return stated === unsigned || stated === signed;
}

function pathOf(head: Uint8Array): string {
  const name = entryName(field(head, 0, 100));
  const hasPrefix = new TextDecoder("latin1").decode(head.subarray(257, 263)) === "ustar\0";
  const prefix = hasPrefix ? entryName(field(head, 345, 155)) : "";
  return prefix === "" ? name : `${prefix}/${name}`;
}

/** Returns a field up to its first NUL. */
function field(head: Uint8Array, start: number, length: number): Uint8Array {
  const bytes = head.subarray(start, start + length);
  const end = bytes.indexOf(0);
  return end < 0 ? bytes : bytes.subarray(0, end);
}

const octal = (bytes: Uint8Array): number => {
  const text = new TextDecoder("latin1").decode(bytes).replaceAll("\0", " ").trim();
  return /^[0-7]*$/.test(text) ? Number.parseInt(text || "0", 8) : Number.NaN;
};

/** Throws for a size in another form, which only files of gigabytes have. */
function readOctal(head: Uint8Array, start: number, length: number): number {
  const value = octal(head.subarray(start, start + length));
  if (!Number.isSafeInteger(value)) throw entryError(pathOf(head), "has a size that cannot be read");
  return value;
}

/** Reads a long name of GNU tar, or extended headers of POSIX: `<length> <key>=<value>\n`, where length counts all. */
function extended(type: "L" | "x", content: Uint8Array): Extended {
  if (content.length > extendedBytes) throw archiveError(`has extended headers of more than ${extendedBytes} bytes`);
  if (type === "L") return { path: entryName(field(content, 0, content.length)) };
  const found: Extended = {};
  for (let at = 0; at < content.length; ) {
    const [, digits = ""] = /^(\d{1,6}) /.exec(new TextDecoder("latin1").decode(content.subarray(at, at + 8))) ?? [];
    const length = Number(digits);
    const record = entryName(content.subarray(at + digits.length + 1, at + length - 1));
    if (digits === "" || length < digits.length + 3 || at + length > content.length || content[at + length - 1] !== 10)
      throw archiveError("is damaged");
    at += length;
    const [key, value] = [record.slice(0, record.indexOf("=")), record.slice(record.indexOf("=") + 1)];
    if (key === "path") found.path = value;
    if (key === "size" && /^\d{1,15}$/.test(value)) found.size = Number(value);
    if (key.startsWith("GNU.sparse.")) throw entryError(found.path ?? key, "is a sparse file, which is not supported");
  }
  return found;
}
