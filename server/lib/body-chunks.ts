/** Thrown if the client of a request stops sending its body. */
export class BodyTimeout extends Error {
  override readonly name = "BodyTimeout";
}

// Several checks, so that a server process that was itself suspended does not take its clients for silent.
const [looks, every_ms] = [3, 4000];

/**
 * Returns the body of a request, null if it has none. Waits for one turn of the event loop, in which a short body
 * usually arrives: Bun allocates 256 KiB for a stream that is opened before, so that every sixty requests were a garbage collection.
 */
export async function openBody(request: Request): Promise<ReadableStream<Uint8Array> | null> {
  if (request.headers.has("content-length")) await new Promise((resolve) => setImmediate(resolve));
  return request.body;
}

/**
 * Yields a request's body as it arrives, however slowly. Throws `BodyTimeout` if no byte came for about ten seconds;
 * the caller drains the rest.
 */
export async function* bodyChunks(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  const reader = body.getReader();
  let quiet = 0;
  let isWaiting = false;
  let timer: Timer | undefined;
  const look = (): void => {
    if (isWaiting && ++quiet === looks) void reader.cancel().catch(() => {});
  };
  try {
    for (;;) {
      quiet = 0;
      isWaiting = true;
      const reading = reader.read();
      if (Bun.peek.status(reading) === "pending") timer ??= setInterval(look, every_ms);
      const { done, value } = await reading;
      isWaiting = false;
      if (quiet === looks) throw new BodyTimeout("Nothing more of the body came.");
      if (done) return;
      yield value;
    }
  } finally {
    clearInterval(timer);
    reader.releaseLock();
  }
}
