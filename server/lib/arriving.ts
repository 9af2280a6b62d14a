/** Of a body that was begun and whose client has fallen silent. */
export class BodyStopped extends Error {
  override readonly name = "BodyStopped";
}

// Several looks, so that a process that was stopped itself, and is late, takes no client for silent.
const [looks, every_ms] = [3, 4000];

/**
 * A body as it arrives, however slowly. Throws `BodyStopped` where nothing came for about ten seconds; the rest is for
 * whoever reads it out.
 */
export async function* arriving(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void> {
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
      if (quiet === looks) throw new BodyStopped("Nothing more of the body came.");
      if (done) return;
      yield value;
    }
  } finally {
    clearInterval(timer);
    reader.releaseLock();
  }
}
