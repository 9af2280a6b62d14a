import type { Client } from "./test-app.ts";

/** Milliseconds between two reads, so that a busy machine does not exceed the rate limit. */
const pause_ms = 20;

/** Returns the newest item of a list as soon as it has one. */
export async function pollFirst<Item = { id: string }>(client: Client, path: string): Promise<Item> {
  for (;;) {
    const [first] = (await client.get(path)).body.data;
    if (first) return first;
    await Bun.sleep(pause_ms);
  }
}
