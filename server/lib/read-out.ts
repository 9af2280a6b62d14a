/**
 * How much of the rest of a body is read, for how long, and how long a client may be silent: one that has sent little may
 * be waiting for the response, one in the middle of a large body is only slow.
 */
const bounds = { bytes: 128 * 1024 * 1024, ms: 30_000, little: 64 * 1024, silence_ms: { before: 1000, within: 5000 } };

/**
 * Takes what is left of a body that was refused, and keeps none of it: many clients read no answer before they have sent
 * everything, and lose it when the connection is closed upon them. Bounded, since nobody's answer is worth more.
 */
export async function readOut({ body }: Pick<Request, "body">): Promise<void> {
  if (body !== null && !body.locked) await readOutBy(body.getReader());
}

/** As much of the reader of a body as is needed here. */
export interface BodyReader {
  read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
  cancel(why?: unknown): Promise<void>;
}

/** The same by whoever has begun to read it; the client has been silent for so long already. */
export async function readOutBy(reader: BodyReader, silent_ms = 0): Promise<void> {
  const { bytes, ms, little, silence_ms } = bounds;
  const stop = () => void reader.cancel().catch(() => {});
  const end = setTimeout(stop, ms);
  let silence: Timer | undefined;
  try {
    for (let size = 0; size < bytes; ) {
      const before_ms = Math.max(0, silence_ms.before - (size === 0 ? silent_ms : 0));
      silence = setTimeout(stop, size < little ? before_ms : silence_ms.within);
      const { done, value } = await reader.read();
      clearTimeout(silence);
      if (done) return;
      size += value!.length;
    }
    stop();
  } catch {
    // The client hung up: nobody waits for the answer.
  } finally {
    clearTimeout(silence);
    clearTimeout(end);
  }
}
