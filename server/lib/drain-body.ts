/**
 * Limits of draining: bytes, total milliseconds, and the silence allowed to a client. A client that has sent little may
 * be waiting for the response; one in the middle of a large body is only slow.
 */
const bounds = { bytes: 128 * 1024 * 1024, ms: 30_000, little: 64 * 1024, silence_ms: { before: 1000, within: 5000 } };

/**
 * Reads and discards the rest of a refused body: many clients read the response only after sending everything, and lose
 * it if the connection closes before. Bounded, so that no client can keep the server reading.
 */
export async function drainBody({ body }: Pick<Request, "body">): Promise<void> {
  if (body !== null && !body.locked) await drainReader(body.getReader());
}

/** The part of a body's reader that is needed here. */
export interface BodyReader {
  read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
  cancel(why?: unknown): Promise<void>;
}

/**
 * Drains a body through a reader that has begun to read it; `silent_ms`: milliseconds that the client has been silent.
 */
export async function drainReader(reader: BodyReader, silent_ms = 0): Promise<void> {
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
      if (done || value === undefined) return;
      size += value.length;
    }
    stop();
  } catch {
    // The client hung up and waits for no response.
  } finally {
    clearTimeout(silence);
    clearTimeout(end);
  }
}
