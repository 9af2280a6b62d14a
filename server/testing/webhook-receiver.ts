/** Request that a webhook received. */
export interface Received {
  path: string;
  headers: Record<string, string>;
  body: string;
  /** Monotonic time, independent of a mocked clock. */
  at: number;
}

type Answer = (received: Received) => Response | Promise<Response>;

export type WebhookReceiver = ReturnType<typeof startWebhookReceiver>;

/** Starts an application on loopback that receives events and answers with the test's function. */
export function startWebhookReceiver(first: Answer = () => new Response("Taken.")) {
  const received: Received[] = [];
  let answer = first;
  let wake = Promise.withResolvers<void>();
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      const headers = Object.fromEntries(request.headers);
      const one = { path: pathname, headers, body: await request.text(), at: performance.now() };
      received.push(one);
      wake.resolve();
      wake = Promise.withResolvers();
      return answer(one);
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}/hooks`,
    received,
    answerWith(next: Answer): void {
      answer = next;
    },
    /** Resolves once this number of requests arrived. */
    async heard(count: number): Promise<Received[]> {
      while (received.length < count) await wake.promise;
      return received;
    },
    async [Symbol.asyncDispose]() {
      await server.stop(true);
    },
  };
}
