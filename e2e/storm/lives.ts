import type { Runnel } from "../harness.ts";

export type Lives = ReturnType<typeof createLives>;

/** The server's process as it comes and goes. Clients wait for the next life, and nobody is asked in between. */
export function createLives(server: Runnel) {
  let up = Promise.withResolvers<void>();
  up.resolve();
  const underWay = new Set<Promise<unknown>>();

  /** Notes what a client does, so that a kill can wait until everything that was sent has been read. */
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
    /** No life comes any more: who still waits for one rests for ever. */
    [Symbol.dispose]() {
      up = Promise.withResolvers();
    },
  };
}
