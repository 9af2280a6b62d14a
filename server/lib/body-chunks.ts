/** Thrown if the client of a request stops sending its body. */
export class BodyTimeout extends Error {
  override readonly name = "BodyTimeout";
}

// Several checks, so that a server process that was itself suspended does not take its clients for silent.
const [looks, every_ms] = [3, 4000];

/**
 * Yields a request's body as it arrives, however slowly. Throws `BodyTimeout` if no byte came for about ten seconds;
 * the caller drains the rest.
 */
export async function* bodyChunks(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  const reader = body.getReader();
  let quiet = 0;
  let isWaiting = false;
  const timer = setInterval(() => {
    if (isWaiting && ++quiet === looks) void reader.cancel().catch(() => {});
  }, every_ms);
  try {
    for (;;) {
      quiet = 0;
      isWaiting = true;
      const { done, value } = await reader.read();
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
