import { isOver, type RunState } from "../../core/run-state.ts";
import { parseCursor, requirePlace } from "../../runs/stream.ts";
import { parseFrames, type StreamFrame, textOfFrames, textsOf } from "../run-fixture.ts";
import { type Fixture, short, type Witness } from "./witness.ts";
import type { World } from "./world.ts";

interface Reader {
  run: string;
  frames: StreamFrame[];
  connection: AbortController | null;
  over: boolean;
}

/** Those who read streams, lose them, and go on with the last id that they were told. */
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
      requirePlace({ journal, watches }, run, place, "after");
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
    /** A reader goes away, or comes back. */
    toggle(): void {
      const open = readers.filter(({ over }) => !over);
      if (open.length === 0) return;
      const reader = world.pick(open);
      if (reader.connection) reader.connection.abort();
      else connect(reader);
    },
    /** The process died, and every connection with it. */
    cutOff(): void {
      for (const reader of readers) reader.connection = null;
    },
    /** Everybody comes back and reads to the end. Returns whether they all have. */
    finish(): boolean {
      const open = readers.filter(({ over }) => !over);
      for (const reader of open) if (!reader.connection) connect(reader);
      return open.length === 0;
    },
    /** What each has read over all connections is the record: no gap, nothing twice, the text to the letter (P6). */
    rested(): void {
      for (const { run, frames } of readers) {
        const { state } = ledgers.get(run)!;
        const seqs = frames.filter(({ event }) => event !== "token").map(({ id }) => Number(id));
        if (seqs.length !== state.seq || seqs.some((seq, index) => seq !== index + 1))
          throw found(`${short(run)}: a reader saw ${seqs} of ${state.seq} (P6)`);
        if (textOfFrames(frames) !== textOf(state)) throw found(`${short(run)}: a reader saw another text (P6)`);
        if (!isOver(state.status)) throw found(`${short(run)}: a stream ended before its run`);
      }
    },
  };
}

const textOf = ({ messages }: RunState): string =>
  messages
    .flatMap((message) => (message.role === "assistant" ? message.parts : []))
    .map((part) => (part.type === "text" ? part.text : ""))
    .join("");
