/** Limits of a skill and of the archive that it comes in. The sandbox's child and its parent both apply them. */
export const skillLimits = {
  /** Bytes of an upload. */
  archive_bytes: 16 * 2 ** 20,
  /** Bytes of all files of a skill together. */
  bytes: 16 * 2 ** 20,
  file_bytes: 5 * 2 ** 20,
  files: 500,
  /** Entries of an archive, folders and ignored files included. */
  entries: 5000,
  /** Unpacked bytes for each byte of an archive, once there is more than a megabyte of them. */
  ratio: 200,
  path_bytes: 512,
  folders: 16,
  front_matter_bytes: 16 * 1024,
  name_length: 64,
  description_length: 1024,
  compatibility_length: 500,
  license_length: 500,
  allowed_tools: 128,
  metadata_pairs: 64,
  metadata_key_length: 128,
  metadata_value_length: 2048,
} as const;

/** Name of the file that makes a folder a skill. */
export const skillFile = "SKILL.md";

/** Front matter of `SKILL.md`. */
export interface SkillHead {
  name: string;
  description: string;
  license: string | null;
  compatibility: string | null;
  allowed_tools: string[];
  metadata: Record<string, string>;
}

/** Returns the text of a `SKILL.md` with the line ends of this system. */
export const withLineFeeds = (text: string): string => text.replaceAll(/\r\n?/g, "\n");

/**
 * Returns the front matter at the beginning of a `SKILL.md`, and its lines with the blank ones before it; null if it has
 * none.
 */
export function frontMatterIn(text: string): { yaml: string; lines: number } | null {
  const [whole, yaml = ""] = /^(?:[ \t]*\n)*---[ \t]*\n([\s\S]*?\n)?---[ \t]*(?:\n|$)/.exec(text) ?? [];
  if (whole === undefined) return null;
  return { yaml, lines: whole.replace(/\n$/, "").split("\n").length };
}

/** A skill as pinned by a run. Its files are those of this version. */
export interface PinnedSkill {
  skill_id: string;
  version: number;
  name: string;
  description: string;
}

/** Tools of an agent with skills. They follow from its skills and are not stored as tools. */
export const skillOperations = ["load_skill", "read_skill_file"] as const;
export type SkillOperation = (typeof skillOperations)[number];

/** Folder in which programs find the skills of their agent. */
export const skillsFolder = "/skills";

/** True for a file or folder that systems and git make, which is no part of a skill. */
export const isSystemFile = (name: string): boolean =>
  /^(__MACOSX|\.DS_Store|Thumbs\.db|desktop\.ini|\.git|\._.*)$/.test(name);

const namePattern = /^[a-z0-9]+(-[a-z0-9]+)*$/;

/** True if the text can be the name of a skill. */
const isSkillName = (name: string): boolean => name.length <= skillLimits.name_length && namePattern.test(name);

// Devices of Windows, whatever the extension: no file of this name can be written there.
const reserved = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?$/i;

/**
 * Returns why a path cannot be one of a skill's files, as the rest of a sentence about it; null if it can. Allowed are
 * only relative paths that mean the same file on every system.
 */
export function pathFault(path: string): string | null {
  if (path === "") return "has no name";
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are refused.
  if (/[\u0000-\u001f\u007f-\u009f]/.test(path)) return "has a control character in its name";
  if (!path.isWellFormed()) return "has a name that is not valid Unicode";
  if (path.includes("\\")) return "has a backslash in its name; folders are separated by /";
  if (path.startsWith("/")) return "has an absolute path";
  if (/^[a-z]:/i.test(path)) return "begins with a drive letter";
  if (Buffer.byteLength(path) > skillLimits.path_bytes)
    return `has a path of more than ${skillLimits.path_bytes} bytes`;
  const parts = path.split("/");
  if (parts.length > skillLimits.folders + 1) return `is in more than ${skillLimits.folders} folders`;
  for (const part of parts) {
    if (part === "..") return "leads out of the folder (..)";
    if (part === "" || part === ".") return "has an empty folder name in its path";
    if (/[<>:"|?*]/.test(part)) return 'has a character in its name that Windows refuses (< > : " | ? *)';
    if (/[. ]$/.test(part)) return "has a name that ends with a dot or a blank";
    if (reserved.test(part)) return "has a name that Windows reserves";
    if (Buffer.byteLength(part) > 255) return "has a name of more than 255 bytes";
  }
  return null;
}

/** Key by which two paths are the same file on systems that ignore case, or compose accents. */
const pathKey = (path: string): string => path.normalize("NFC").toLowerCase().normalize("NFC");

/**
 * Returns the fault of a set of paths, with the path: the same file twice, or a file that is a folder too. Null if each
 * can be written everywhere.
 */
export function clashOf(paths: Iterable<string>): { path: string; fault: string } | null {
  const files = new Map<string, string>();
  const folders = new Map<string, string>();
  for (const path of paths) {
    const key = pathKey(path);
    const other = files.get(key);
    if (other === path) return { path, fault: "is in it twice" };
    if (other !== undefined) return { path, fault: `differs from ${JSON.stringify(other)} only by case or accents` };
    files.set(key, path);
    for (let end = path.indexOf("/"); end >= 0; end = path.indexOf("/", end + 1)) {
      const folder = path.slice(0, end);
      const known = folders.get(pathKey(folder));
      if (known !== undefined && known !== folder)
        return { path, fault: `is in a folder that differs from ${JSON.stringify(known)} only by case or accents` };
      folders.set(pathKey(folder), folder);
    }
  }
  for (const [key, path] of files) if (folders.has(key)) return { path, fault: "is a file and a folder" };
  return null;
}

/** Returns the fault of front matter, as a sentence; null if it has none. */
export function headFault(head: SkillHead): string | null {
  const { name, description, license, compatibility, allowed_tools, metadata } = head;
  const most = skillLimits;
  if (!isSkillName(name))
    return `Its name ${quote(name)} is not valid: lower-case letters, digits and single hyphens between them, at most ${most.name_length} characters.`;
  if (description === "") return "Its description is empty.";
  if (description.length > most.description_length)
    return `Its description has ${description.length} characters; at most ${most.description_length} are allowed.`;
  if ((license?.length ?? 0) > most.license_length)
    return `Its license has more than ${most.license_length} characters.`;
  if ((compatibility?.length ?? 0) > most.compatibility_length)
    return `Its compatibility has more than ${most.compatibility_length} characters.`;
  if (allowed_tools.length > most.allowed_tools) return `Its allowed-tools are more than ${most.allowed_tools}.`;
  if (allowed_tools.some((tool) => tool.length > most.metadata_key_length))
    return `A tool of its allowed-tools has more than ${most.metadata_key_length} characters.`;
  const pairs = Object.entries(metadata);
  if (pairs.length > most.metadata_pairs) return `Its metadata has more than ${most.metadata_pairs} pairs.`;
  if (pairs.some(([key]) => key.length > most.metadata_key_length))
    return `A key of its metadata has more than ${most.metadata_key_length} characters.`;
  if (pairs.some(([, value]) => value.length > most.metadata_value_length))
    return `A value of its metadata has more than ${most.metadata_value_length} characters.`;
  return null;
}

/** Quotes a text of an archive for a message, cut to a length that can be read. */
export const quote = (text: string): string => JSON.stringify(text.length > 120 ? `${text.slice(0, 119)}…` : text);
