/** Thrown if the client of a request stops sending its body. */
export class BodyTimeout extends Error {
  override readonly name = "BodyTimeout";
}

// Several checks, so that a server process that was itself suspended does not take its clients for silent.
const [looks, every_ms] = [3, 4000];

/**
 * Yields a request's body as it arrives, however slowly. Throws `BodyTimeout` if no byte came for about ten seconds;
 * the caller drains the rest. Throws an AbortError if the connection ended within the body.
 */
export async function* bodyChunks(request: Request): AsyncGenerator<Uint8Array, void> {
  const announced_bytes = Number(request.headers.get("content-length") ?? Number.NaN);
  // A short body usually arrives within one turn. Bun allocates 256 KiB for a stream that is opened before, so that the
  // garbage of sixty requests was collected.
  if (announced_bytes > 0) await new Promise((resolve) => setImmediate(resolve));
  const reader = request.body?.getReader();
  if (!reader) return requireWhole(0, announced_bytes);
  let received_bytes = 0;
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
      if (done) break;
      received_bytes += value.length;
      yield value;
    }
  } finally {
    clearInterval(timer);
    reader.releaseLock();
  }
  requireWhole(received_bytes, announced_bytes);
}

/**
 * Throws if fewer bytes came than the client announced. One that leaves before its body is opened may look like one that
 * sent an empty body, which is a valid request of some routes.
 */
function requireWhole(received_bytes: number, announced_bytes: number): void {
  if (received_bytes < announced_bytes) throw new DOMException("The connection ended within the body.", "AbortError");
}
