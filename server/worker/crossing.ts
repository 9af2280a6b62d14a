import { parseExact } from "../lib/exact-numbers.ts";
import type { Delta, Notice } from "./messages.ts";

/**
 * What crosses from a thread: all notices of a tick as one string of JSON, which needs no structured clone. Bytes of files
 * go beside it: they are moved, where base64 would be copied four times.
 */
export type Crossing = string | { json: string; files: Uint8Array[] };

/** Hands over notices, and the bytes in them with their memory. */
export function pack(notices: readonly Notice[]): { crossing: Crossing; transfer: ArrayBuffer[] } {
  const files = notices.flatMap((notice) => (isFile(notice) ? [ownMemory(notice.question.content)] : []));
  const json = JSON.stringify(notices.map((notice) => (isFile(notice) ? withContent(notice, empty) : notice)));
  if (files.length === 0) return { crossing: json, transfer: [] };
  return { crossing: { json, files }, transfer: files.map(({ buffer }) => buffer) };
}

export function unpack(crossing: Crossing): Notice[] {
  if (typeof crossing === "string") return parseExact(crossing);
  const files = crossing.files[Symbol.iterator]();
  const notices: Notice[] = parseExact(crossing.json);
  return notices.map((notice) => (isFile(notice) ? withContent(notice, files.next().value!) : notice));
}

/** Deltas of an answer that came together as one of all: each by itself takes a hundred times the memory of its text. */
export function joined(notices: readonly Notice[]): Notice[] {
  // The last of each run.
  const open = new Map<string, Delta>();
  return notices.flatMap((notice): Notice[] => {
    if (notice.do !== "delta") {
      open.clear(); // No delta overtakes what was said before it.
      return [notice];
    }
    const { run_id, delta } = notice;
    const before = open.get(run_id);
    if (before && goesOn(before, delta)) {
      before.marks ??= [before.text.length, before.ms];
      before.marks.push(delta.text.length, delta.ms);
      before.text += delta.text;
      return [];
    }
    const own = { ...delta };
    open.set(run_id, own);
    return [{ ...notice, delta: own }];
  });
}

const goesOn = (before: Delta, { anchor, part, kind }: Delta): boolean =>
  before.anchor === anchor && before.part === part && before.kind === kind;

type FileNotice = Extract<Notice, { do: "ask" }> & { question: { of: "keep_file"; content: Uint8Array } };

const isFile = (notice: Notice): notice is FileNotice => notice.do === "ask" && notice.question.of === "keep_file";

const withContent = (notice: FileNotice, content: Uint8Array): FileNotice => ({
  ...notice,
  question: { ...notice.question, content },
});

const empty = new Uint8Array();

/** Bytes that are part of something larger would take it along. */
const ownMemory = (bytes: Uint8Array): Uint8Array<ArrayBuffer> =>
  bytes.buffer instanceof ArrayBuffer && bytes.byteLength === bytes.buffer.byteLength
    ? (bytes as Uint8Array<ArrayBuffer>)
    : bytes.slice();
