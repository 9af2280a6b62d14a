import type { SkillHead } from "../../domain/skills.ts";

/** Last message of a child that read a skill. */
export interface SkillChildEnd {
  error: string | null;
  head: SkillHead | null;
}

/** Encodes a file of a skill: two bytes for the length of its path, the path, the bytes. */
export function encodeSkillFile({ path, bytes }: { path: string; bytes: Uint8Array }): Uint8Array {
  const name = Buffer.from(path);
  return Buffer.concat([Buffer.of(name.length & 255, name.length >> 8), name, bytes]);
}

export function decodeSkillFile(payload: Uint8Array<ArrayBuffer>): { path: string; bytes: Uint8Array<ArrayBuffer> } {
  const start = 2 + (payload[0] ?? 0) + ((payload[1] ?? 0) << 8);
  const path = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(payload.subarray(2, start));
  return { path, bytes: payload.slice(start) };
}
