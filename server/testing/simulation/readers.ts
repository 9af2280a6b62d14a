import { isOver, type RunState } from "../../domain/run-state.ts";
import { parseCursor, requireCursor } from "../../runs/stream/stream.ts";
import { parseFrames, type StreamFrame, textOfFrames, textsOf } from "../run-fixture.ts";
import { type Fixture, short, type Witness } from "./witness.ts";
import type { World } from "./world.ts";

interface Reader {
  run: string;
  frames: StreamFrame[];
  connection: AbortController | null;
  over: boolean;
}

/** Clients that read streams, disconnect, and resume after the last id that they received. */
export function createReaders(world: World, { ledgers, found }: Witness, fixture: () => Fixture) {
  const readers: Reader[] = [];

  async function read(reader: Reader): Promise<void> {
    const { run, frames } = reader;
    const connection = new AbortController();
    reader.connection = connection;
    const { journal, watches, tail } = fixture();
    const last = frames.at(-1)?.id ?? null;
    world.note(`reader: ${short(run)} from ${last}`);
    const place = parseCursor(last, "after");
    try {
      requireCursor({ journal, watches }, run, place, "after");
    } catch {
      throw found(`${short(run)}: ${last} was told to a reader and is refused (P6)`);
    }
    const open = (wake: () => void) => {
      const texts = tail(run, place, wake);
      connection.signal.addEventListener("abort", () => {
        texts.stop();
        wake();
      });
      return texts;
    };
    for await (const text of textsOf(open)) {
      frames.push(...parseFrames(text));
      await world.wait(`reader of ${short(run)}`);
      if (connection.signal.aborted) break;
    }
    reader.connection = null;
    reader.over = frames.some(({ event }) => event === "run.completed" || event === "run.failed");
  }

  const connect = (reader: Reader) => void read(reader).catch((error) => found(String(error)));

  return {
    open(run: string): void {
      const reader: Reader = { run, frames: [], connection: null, over: false };
      readers.push(reader);
      connect(reader);
    },
    /** Disconnects or reconnects a reader. */
    toggle(): void {
      const open = readers.filter(({ over }) => !over);
      if (open.length === 0) return;
      const reader = world.pick(open);
      if (reader.connection) reader.connection.abort();
      else connect(reader);
    },
    /** Disconnects all readers, because the process died. */
    cutOff(): void {
      for (const reader of readers) reader.connection = null;
    },
    /** Reconnects all readers and reads to the end. Returns true once all have finished. */
    finish(): boolean {
      const open = readers.filter(({ over }) => !over);
      for (const reader of open) if (!reader.connection) connect(reader);
      return open.length === 0;
    },
    /**
     * Checks that each reader got exactly the record over all its connections: no gap, no repetition, the exact text
     * (P6).
     */
    rested(): void {
      for (const { run, frames } of readers) {
        const { state } = ledgers.get(run)!;
        const seqs = frames.filter(({ event }) => event !== "token").map(({ data }) => data.seq);
        if (seqs.length !== state.seq || seqs.some((seq, index) => seq !== index + 1))
          throw found(`${short(run)}: a reader saw ${seqs} of ${state.seq} (P6)`);
        if (textOfFrames(frames) !== textOf(state)) throw found(`${short(run)}: a reader saw another text (P6)`);
        if (!isOver(state.status)) throw found(`${short(run)}: a stream ended before its run`);
      }
    },
  };
}

const textOf = ({ messages }: Pick<RunState, "messages">): string =>
  messages
    .flatMap((message) => (message.role === "assistant" ? message.parts : []))
    .map((part) => (part.type === "text" ? part.text : ""))
    .join("");
