import { gunzipSync } from "node:zlib";
import { skillLimits } from "../../domain/skills.ts";
import { DocumentError } from "../documents/document-error.ts";
import { listRawEntries, type RawEntry, unpackRaw } from "../documents/zip.ts";
import { type ArchiveFile, entryName } from "./archive-file.ts";
import { readTar } from "./read-tar.ts";
import { archiveError, entryError, SkillError } from "./skill-error.ts";

/** A tar has a header for each entry, fills up their ends, and may have blocks for long names. */
const tarBytes = skillLimits.bytes + 4 * 512 * skillLimits.entries;

/**
 * Lists the files of a zip, a tar or a tar.gz, told apart by their bytes. Throws for entries that are neither a file nor
 * a folder.
 */
export function filesOfArchive(bytes: Uint8Array): ArchiveFile[] {
  if (startsWith(bytes, 0x50, 0x4b)) return filesOfZip(bytes);
  if (startsWith(bytes, 0x1f, 0x8b)) return filesOfTar(gunzip(bytes), true);
  return filesOfTar(bytes, false);
}

const startsWith = (bytes: Uint8Array, ...mark: number[]): boolean => mark.every((byte, at) => bytes[at] === byte);

/** Marks of archives that people upload too. */
const otherFormats: [name: string, mark: number[]][] = [
  ["7z", [0x37, 0x7a, 0xbc, 0xaf]],
  ["RAR", [0x52, 0x61, 0x72, 0x21]],
  ["xz", [0xfd, 0x37, 0x7a, 0x58]],
  ["bzip2", [0x42, 0x5a, 0x68]],
  ["Zstandard", [0x28, 0xb5, 0x2f, 0xfd]],
];

function filesOfTar(bytes: Uint8Array, isUnpacked: boolean): ArchiveFile[] {
  const other = otherFormats.find(([, mark]) => startsWith(bytes, ...mark));
  if (other && !isUnpacked) throw archiveError(`is a ${other[0]} file. Send a zip, a tar or a tar.gz`);
  return readTar(bytes);
}

function gunzip(bytes: Uint8Array): Uint8Array {
  try {
    const unpacked = gunzipSync(bytes, { maxOutputLength: tarBytes });
    checkRatio(bytes.length, unpacked.length);
    return unpacked;
  } catch (error) {
    if (error instanceof SkillError) throw error;
    if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") throw tooMuch();
    throw archiveError("is damaged or incomplete");
  }
}

const tooMuch = (): SkillError => archiveError(`unpacks to more than ${skillLimits.bytes} bytes`);

/** Refuses an archive that unpacks to much more than a real one, before its content takes memory. */
function checkRatio(packed: number, unpacked: number): void {
  if (unpacked > 2 ** 20 && unpacked > packed * skillLimits.ratio)
    throw archiveError(`unpacks to more than ${skillLimits.ratio} times its size`);
}

function filesOfZip(bytes: Uint8Array): ArchiveFile[] {
  const entries = listEntries(bytes);
  if (entries.length > skillLimits.entries) throw archiveError(`has more than ${skillLimits.entries} entries`);
  const named = withSlashes(entries.map((entry) => ({ entry, path: entryName(entry.name) })));
  const files = named.flatMap((each) => fileOf(bytes, each) ?? []);
  // Sizes are only stated, but each is checked when it is unpacked.
  const stated = files.reduce((sum, { unpacked }) => sum + unpacked, 0);
  if (stated > skillLimits.bytes) throw tooMuch();
  checkRatio(bytes.length, stated);
  return files;
}

function listEntries(bytes: Uint8Array): RawEntry[] {
  try {
    return listRawEntries(bytes);
  } catch (error) {
    if (error instanceof DocumentError) throw archiveError("is damaged or incomplete");
    throw error;
  }
}

const [typeBits, folderType, fileType, linkType] = [0o170000, 0o040000, 0o100000, 0o120000];

interface NamedEntry {
  entry: RawEntry;
  path: string;
}

/** Old shells of Windows write a backslash between folders, and then no slash at all. */
function withSlashes(entries: readonly NamedEntry[]): readonly NamedEntry[] {
  if (entries.some(({ path }) => path.includes("/"))) return entries;
  return entries.map(({ entry, path }) => ({ entry, path: path.replaceAll("\\", "/") }));
}

/** Returns null for a folder. */
function fileOf(bytes: Uint8Array, { entry, path }: NamedEntry): (ArchiveFile & { unpacked: number }) | null {
  const type = (entry.mode ?? 0) & typeBits;
  if (type === linkType) throw entryError(path, "is a link");
  if (type !== 0 && type !== fileType && type !== folderType) throw entryError(path, "is a device or a pipe");
  if (path.endsWith("/") || type === folderType) return null;
  if (entry.encrypted) throw entryError(path, "is encrypted");
  if (entry.unpacked > skillLimits.file_bytes) throw entryError(path, `has more than ${skillLimits.file_bytes} bytes`);
  return { path, unpacked: entry.unpacked, read: (room) => readEntry(bytes, entry, path, room) };
}

function readEntry(bytes: Uint8Array, entry: RawEntry, path: string, room: number): Uint8Array {
  try {
    return unpackRaw(bytes, entry, room);
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    if (error.code === "document_too_large") throw entryError(path, "unpacks to more than the archive states");
    throw entryError(path, "is damaged, or packed in a way that is not supported");
  }
}
