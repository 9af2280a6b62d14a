import type { Runnel } from "../harness.ts";

export type Lives = ReturnType<typeof createLives>;

/** The server's process across restarts. Clients wait for the next start, and send nothing in between. */
export function createLives(server: Runnel) {
  let up = Promise.withResolvers<void>();
  up.resolve();
  const underWay = new Set<Promise<unknown>>();

  /** Tracks a client's work, so that a kill can wait until all sent bytes are read. */
  async function during<T>(work: Promise<T>): Promise<T> {
    underWay.add(work);
    return await work.finally(() => underWay.delete(work));
  }

  async function kill(): Promise<void> {
    if (!server.isAlive()) throw new Error(`The server ended by itself:\n${server.log()}`);
    up = Promise.withResolvers();
    await server.kill9();
    while (underWay.size > 0) await Promise.allSettled(underWay);
  }

  async function start(): Promise<void> {
    await server.restart();
    up.resolve();
  }

  return {
    server,
    up: () => up.promise,
    during,
    kill,
    start,
    /** No start follows: clients that still wait for one never resolve. */
    [Symbol.dispose]() {
      up = Promise.withResolvers();
    },
  };
}
