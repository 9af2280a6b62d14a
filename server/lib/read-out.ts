/** How much of a refused body is taken, in how much time, and how long a client may be silent meanwhile. */
const bounds = { bytes: 128 * 1024 * 1024, ms: 30_000, silence_ms: 1000 };

/**
 * Takes what is left of a body that was refused, and keeps none of it: many clients read no answer before they have sent
 * everything, and lose it when the connection is closed upon them. Bounded, since nobody's answer is worth more.
 */
export async function readOut({ body }: Request, within = bounds): Promise<void> {
  if (body !== null && !body.locked) await readOutBy(body.getReader(), within);
}

export type BodyReader = Pick<ReadableStreamDefaultReader<Uint8Array>, "read" | "cancel">;

/** The same by whoever has begun to read it. */
export async function readOutBy(reader: BodyReader, { bytes, ms, silence_ms } = bounds): Promise<void> {
  const stop = () => void reader.cancel().catch(() => {});
  const end = setTimeout(stop, ms);
  let silence: Timer | undefined;
  try {
    for (let size = 0; size < bytes; ) {
      silence = setTimeout(stop, silence_ms);
      const { done, value } = await reader.read();
      clearTimeout(silence);
      if (done) return;
      size += value.length;
    }
    stop();
  } catch {
    // The client hung up: nobody waits for the answer.
  } finally {
    clearTimeout(silence);
    clearTimeout(end);
  }
}
