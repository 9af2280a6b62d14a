import type { Client, TestApp } from "./test-app.ts";

type Reader = Pick<Client, "get">;

/** Waits until a run is neither queued nor in progress, and returns it. */
// biome-ignore lint/suspicious/noExplicitAny: as the API's answers are read in all tests.
export async function settledRun(server: Pick<TestApp, "watches">, client: Reader, id: string): Promise<any> {
  const watch = server.watches.join(id);
  try {
    for (;;) {
      const { body } = await client.get(`/v1/runs/${id}`);
      if (body.status !== "in_progress" && body.status !== "queued") return body;
      await watch.next(10_000);
    }
  } finally {
    watch.leave();
  }
}
