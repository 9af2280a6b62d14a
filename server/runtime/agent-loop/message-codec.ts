import { parseExact } from "../../lib/exact-numbers.ts";
import type { Delta, FromWorker } from "./messages.ts";

/**
 * Message format from worker to main: one JSON string per tick (cheaper than structured clone). Bytes of files are
 * transferred beside it, because base64 would be copied four times.
 */
export type EncodedMessages = string | { json: string; files: Uint8Array[] };

/** Serializes messages and returns the buffers to transfer. */
export function encode(notices: readonly FromWorker[]): { crossing: EncodedMessages; transfer: ArrayBuffer[] } {
  const files = notices.flatMap((notice) => (isFile(notice) ? [ownMemory(notice.question.content)] : []));
  const json = JSON.stringify(notices.map((notice) => (isFile(notice) ? withContent(notice, empty) : notice)));
  if (files.length === 0) return { crossing: json, transfer: [] };
  return { crossing: { json, files }, transfer: files.map(({ buffer }) => buffer) };
}

export function decode(crossing: EncodedMessages): FromWorker[] {
  if (typeof crossing === "string") return parseExact(crossing);
  const files = crossing.files[Symbol.iterator]();
  const notices: FromWorker[] = parseExact(crossing.json);
  return notices.map((notice) => (isFile(notice) ? withContent(notice, files.next().value!) : notice));
}

/** Merges consecutive deltas of an answer: separate deltas take a hundred times the memory of their text. */
export function coalesce(notices: readonly FromWorker[]): FromWorker[] {
  // The last delta of each run.
  const open = new Map<string, Delta>();
  return notices.flatMap((notice): FromWorker[] => {
    if (notice.do !== "delta") {
      open.clear(); // Deltas keep their order with other messages.
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

type FileNotice = Extract<FromWorker, { do: "ask" }> & { question: { of: "keep_file"; content: Uint8Array } };

const isFile = (notice: FromWorker): notice is FileNotice => notice.do === "ask" && notice.question.of === "keep_file";

const withContent = (notice: FileNotice, content: Uint8Array): FileNotice => ({
  ...notice,
  question: { ...notice.question, content },
});

const empty = new Uint8Array();

/** Copies bytes that share a larger buffer, because the whole buffer would be transferred. */
const ownMemory = (bytes: Uint8Array): Uint8Array<ArrayBuffer> =>
  bytes.buffer instanceof ArrayBuffer && bytes.byteLength === bytes.buffer.byteLength
    ? (bytes as Uint8Array<ArrayBuffer>)
    : bytes.slice();
