import { isUtf8 } from "node:buffer";
import { limits } from "../../domain/limits.ts";
import { clashOf, pathFault, skillFile } from "../../domain/skills.ts";
import { sha256 } from "../../lib/hash.ts";
import type { ApiClient } from "../commands/api-client.ts";
import { CliError, usageError } from "../commands/exit-code.ts";
import type { Change, SetOptions } from "./change.ts";
import type { FileThing } from "./read-files.ts";
import type { SkillFile } from "./skill-folder.ts";

/** Uploads a skill if a file of it differs. The changes are the paths of these files. */
export async function setSkill(thing: FileThing, { client, stored, isDry }: SetOptions): Promise<Change> {
  const { kind, name, path, files = [] } = thing;
  const id = stored.idOf(kind, name);
  const fields = id === undefined ? [] : differences(files, await readVersion(client, id));
  if (id !== undefined && fields.length === 0) return { kind, name, path, outcome: "unchanged", fields };
  const archive = await packSkill(files);
  if (!isDry) {
    const made = await client.upload<{ id: string }>("/skills", archive);
    if (id === undefined) stored.add(kind, name, made.id);
  }
  return { kind, name, path, outcome: id === undefined ? "created" : "updated", fields };
}

interface StoredFile {
  path: string;
  sha256: string;
}

interface Version {
  version: number;
  files: StoredFile[];
}

/** Reads the newest version of a skill. */
async function readVersion(client: ApiClient, id: string): Promise<Version> {
  const { version } = await client.get<{ version: number }>(`/skills/${id}`);
  return client.get<Version>(`/skills/${id}/versions/${version}`);
}

/** Returns the paths of files that only one side has, or that differ. */
export function differences(files: readonly SkillFile[], { files: stored }: Pick<Version, "files">): string[] {
  const hashes = new Map(stored.map((file) => [file.path, file.sha256]));
  const own = new Set(files.map(({ path }) => path));
  const changed = files.filter(({ path, bytes }) => !isSame(bytes, hashes.get(path))).map(({ path }) => path);
  return [...changed, ...[...hashes.keys()].filter((path) => !own.has(path))].sort();
}

/** A text that a checkout has given line ends of Windows is the one that is stored. */
const isSame = (bytes: Uint8Array, hash: string | undefined): boolean =>
  hash !== undefined && (sha256(bytes) === hash || (hasWindowsLines(bytes) && sha256(withPlainLines(bytes)) === hash));

const hasWindowsLines = (bytes: Uint8Array): boolean => bytes.includes(13) && !bytes.includes(0) && isUtf8(bytes);

const withPlainLines = (bytes: Uint8Array): Uint8Array =>
  bytes.filter((byte, at) => byte !== 13 || bytes[at + 1] !== 10);

/** Packs a tar, and compresses it only if it is too long otherwise: an archive may not unpack to much more than it is. */
export async function packSkill(files: readonly SkillFile[]): Promise<Uint8Array<ArrayBuffer>> {
  const entries = Object.fromEntries(files.map(({ path, bytes }) => [path, bytes]));
  const plain = await new Bun.Archive(entries).bytes();
  const archive =
    plain.length <= limits.skill_archive_bytes ? plain : await new Bun.Archive(entries, { compress: "gzip" }).bytes();
  if (archive.length > limits.skill_archive_bytes)
    throw usageError(`The skill packs to more than ${limits.skill_archive_bytes} bytes.`);
  return archive;
}

/** Downloads the files of a skill's newest version. */
export async function downloadSkill(client: ApiClient, id: string): Promise<SkillFile[]> {
  const { version, files } = await readVersion(client, id);
  const paths = files.map(({ path }) => path);
  // They become names of files on this machine.
  if (!paths.includes(skillFile) || paths.some((path) => pathFault(path) !== null) || clashOf(paths))
    throw new CliError(`The skill ${id} has names that no folder can have.`);
  const found: SkillFile[] = [];
  for (const { path, sha256: hash } of files) {
    const place = `/skills/${id}/versions/${version}/content?path=${encodeURIComponent(path)}`;
    const bytes = await client.download(place);
    if (sha256(bytes) !== hash) throw new CliError(`The file ${path} of the skill ${id} came incomplete.`);
    found.push({ path, bytes });
  }
  return found;
}
