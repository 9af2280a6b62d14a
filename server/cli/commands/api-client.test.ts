import { expect, test } from "bun:test";
import { createApiClient } from "./api-client.ts";

/** Serves these answers one after the other, and counts the requests. */
function serve(answers: (() => Response)[]) {
  let count = 0;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => answers[Math.min(count++, answers.length - 1)]!(),
  });
  return {
    client: (isPatient: boolean) =>
      createApiClient({ address: server.url.origin, apiKey: "key", ca: null, isPatient, told: () => {} }),
    count: () => count,
    [Symbol.dispose]: () => void server.stop(true),
  };
}

const limited = () =>
  Response.json({ error: { message: "Too many requests." } }, { status: 429, headers: { "retry-after": "0.01" } });

test("a patient client waits for a rate limit and sends the request again, also one that writes", async () => {
  using server = serve([limited, limited, () => Response.json({ id: "one" })]);
  expect(await server.client(true).put<object>("/agents/by-name/a", {})).toEqual({ id: "one" });
  expect(server.count()).toBe(3);
});

test("a client that is not patient fails at a rate limit at once", async () => {
  using server = serve([limited, () => Response.json({})]);
  await expect(server.client(false).put("/agents/by-name/a", {})).rejects.toThrow("Too many requests.");
  expect(server.count()).toBe(1);
});

test("even a patient client gives up a limit that never ends", async () => {
  using server = serve([limited]);
  await expect(server.client(true).post("/skills")).rejects.toThrow("Too many requests.");
  expect(server.count()).toBe(11);
});
