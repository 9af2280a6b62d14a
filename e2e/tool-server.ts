/** A call that the tool received, as sent over the wire. */
interface ReceivedCall {
  path: string;
  key: string;
  headers: Record<string, string>;
  body: string;
}

export type ToolServer = ReturnType<typeof startToolServer>;

const html = { headers: { "content-type": "text/html" } };

/**
 * HTTP tools on loopback. The path chooses the behaviour: `/slow/<ms>` takes that long, `/held` waits until released,
 * the rest is in the table.
 */
export function startToolServer() {
  const calls: ReceivedCall[] = [];
  let wake = Promise.withResolvers<void>();
  let gate = Promise.resolve();
  let open = (): void => {};
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      const path = new URL(request.url).pathname;
      const headers = Object.fromEntries(request.headers);
      calls.push({ path, key: headers["idempotency-key"] ?? "", headers, body: await request.text() });
      wake.resolve();
      wake = Promise.withResolvers();
      const [, kind = "", ms = "0"] = path.split("/");
      if (kind === "slow") await Bun.sleep(Number(ms));
      if (kind === "held") await gate;
      return (answers[kind] ?? weather)();
    },
  });
  const callsOf = (path: string) => calls.filter((call) => call.path === path);
  return {
    url: `http://127.0.0.1:${server.port}`,
    calls,
    callsOf,
    /** Returns the number of calls by `Idempotency-Key`. */
    countsByKey: (path: string): Map<string, number> =>
      callsOf(path).reduce((counts, { key }) => counts.set(key, (counts.get(key) ?? 0) + 1), new Map<string, number>()),
    /** Resolves once the path was called `count` times. */
    async called(path: string, count = 1): Promise<void> {
      while (callsOf(path).length < count) await wake.promise;
    },
    /** Holds all responses of `/held` until they are released. */
    hold(): void {
      ({ promise: gate, resolve: open } = Promise.withResolvers<void>());
    },
    release: (): void => open(),
    async [Symbol.asyncDispose]() {
      await server.stop(true);
    },
  };
}

const redirect = (location: string) => new Response(null, { status: 302, headers: { location } });
const weather = () => Response.json({ sky: "clear" });
const answers: Record<string, () => Response | Promise<Response>> = {
  fails: () => new Response("It broke.", { status: 500 }),
  garbage: () => new Response('{"half": ', { headers: { "content-type": "application/json" } }),
  page: () => new Response("<html>Welcome</html>", html),
  huge: () => Response.json("x".repeat(10 * 1024 * 1024)),
  metadata: () => redirect("https://169.254.169.254/latest/meta-data/"),
  plain: () => redirect("http://169.254.169.254/latest/meta-data/"),
  loop: () => redirect("/loop"),
  cut: () => new Response(cutStream(), { headers: { "content-type": "application/json" } }),
  silent: () => new Promise<Response>(() => {}),
};

function cutStream(): ReadableStream<Uint8Array> {
  return new ReadableStream({
    pull(controller) {
      controller.enqueue(new TextEncoder().encode('{"sky":'));
      controller.error(new Error("cut"));
    },
  });
}
