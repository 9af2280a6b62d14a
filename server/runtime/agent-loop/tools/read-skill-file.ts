import type { Ask } from "../messages.ts";

interface SkillFile {
  skill_id: string;
  version: number;
  path: string;
  bytes: number;
}

// Large files are read in parts so that the main thread is not blocked.
const partBytes = 256 * 1024;

/** Reads a file of a version of a skill; null if the skill was deleted. */
export async function readSkillFile(
  { skill_id, version, path, bytes }: SkillFile,
  ask: Ask,
): Promise<Uint8Array<ArrayBuffer> | null> {
  const content = new Uint8Array(bytes);
  for (let start = 0; start < bytes; start += partBytes) {
    const part = await ask("read_skill_file", { skill_id, version, path, start, length: partBytes });
    if (!part) return null;
    content.set(Uint8Array.fromBase64(part.content), start);
  }
  return content;
}
