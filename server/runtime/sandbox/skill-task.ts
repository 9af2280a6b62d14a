import { clashOf, headFault, pathFault, type SkillHead, skillFile, skillLimits } from "../../domain/skills.ts";
import { encodeFrameHeader } from "./frame-header.ts";
import type { Packet } from "./packet.ts";
import { decodeSkillFile, type SkillChildEnd } from "./skill-packets.ts";
import type { Task } from "./task.ts";

export interface SkillContent {
  head: SkillHead;
  files: { path: string; bytes: Uint8Array<ArrayBuffer> }[];
}

/** `unavailable`: the archive was not judged, because the reader is off or was stopped. */
export type SkillOutcome = { skill: SkillContent } | { error: string; unavailable?: "off" | "stopped" };

const memory_mb = 400;
const timeout_ms = 20_000;

/** Returns the task of reading the archive of a skill. */
export function skillTask(archive: Uint8Array): Task<SkillOutcome> {
  const answer = openSkillAnswer();
  return {
    timeout_ms,
    timed_by: "processor" as const,
    memory_mb,
    late_message: `The archive could not be read within ${timeout_ms / 1000} seconds.`,
    memory_message: `The archive needs more than ${memory_mb} MB of memory to be read.`,
    output_max_bytes: skillLimits.bytes + 2 ** 20 + skillLimits.files * (skillLimits.path_bytes + 16),
    order: [encodeFrameHeader({ bytes: archive.length })],
    content: [archive],
    content_bytes: archive.length,
    onPacket: answer.hear,
    isComplete: answer.isWhole,
    outcome: (why) => (why === null && answer.said()) || { error: why?.message ?? "The archive could not be read." },
  };
}

/** Collects the answer of a child. It is untrusted: a hostile archive may have taken over the child. */
function openSkillAnswer() {
  const files: SkillContent["files"] = [];
  let size = 0;
  let end: SkillOutcome | null = null;

  function take(payload: Uint8Array<ArrayBuffer>): void {
    const file = decodeSkillFile(payload);
    size += file.bytes.length;
    if (pathFault(file.path) !== null) throw new Error("A path is none of a skill's.");
    if (files.length === skillLimits.files || size > skillLimits.bytes || file.bytes.length > skillLimits.file_bytes)
      throw new Error("The files are too many.");
    files.push(file);
  }

  function read({ error, head }: Record<keyof SkillChildEnd, unknown>): SkillOutcome {
    if (typeof error === "string") return { error: error.slice(0, 1000) };
    if (clashOf(files.map(({ path }) => path)) || !files.some(({ path }) => path === skillFile))
      throw new Error("The files are none of a skill's.");
    return { skill: { head: readHead(Object(head)), files } };
  }

  return {
    /** Throws if the packet is not valid at this point. */
    hear({ kind, payload }: Packet): void {
      if (end !== null) throw new Error(`${kind} is out of turn.`);
      if (kind === "file") take(payload);
      else if (kind === "ended") end = read(Object(JSON.parse(new TextDecoder().decode(payload))));
      else throw new Error(`${kind} is none of a skill's.`);
    },
    isWhole: (): boolean => end !== null,
    said: (): SkillOutcome | null => end,
  };
}

function readHead(said: Record<keyof SkillHead, unknown>): SkillHead {
  const head: SkillHead = {
    name: text(said.name),
    description: text(said.description),
    license: said.license === null ? null : text(said.license),
    compatibility: said.compatibility === null ? null : text(said.compatibility),
    allowed_tools: Array.isArray(said.allowed_tools) ? said.allowed_tools.map(text) : [],
    metadata: Object.fromEntries(Object.entries(Object(said.metadata)).map(([key, value]) => [key, text(value)])),
  };
  if (headFault(head) !== null) throw new Error("The head is none of a skill's.");
  return head;
}

function text(value: unknown): string {
  if (typeof value !== "string" || !value.isWellFormed()) throw new Error("The child's word is no text.");
  return value;
}
