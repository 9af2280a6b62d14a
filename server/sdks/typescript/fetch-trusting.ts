import type { Fetch } from "./client.ts";

/**
 * Returns a `fetch` that trusts a self-signed certificate. Bun's and Deno's `fetch` accept one; Node's does not, so
 * `node:https` is used there. Browsers trust only what the system trusts.
 */
export async function fetchTrusting({
  ca,
  file,
}: {
  ca?: string | undefined;
  file?: string | undefined;
}): Promise<Fetch> {
  const { Bun, Deno, process } = globalThis as {
    Bun?: unknown;
    Deno?: { createHttpClient(options: { caCerts: string[] }): unknown };
    // biome-ignore lint/suspicious/noExplicitAny: the types of Node are not those of the other runtimes.
    process?: { versions?: { node?: string }; getBuiltinModule?(name: string): any };
  };
  // Bun sends requests through the proxies of the environment, even those to this machine, with the key.
  const direct = (url: string): object => (Bun && isOwn(new URL(url).hostname) ? { proxy: false } : {});
  const plain: Fetch = (url, init) => fetch(url, { ...init, ...direct(url) } as RequestInit);
  if ((ca === undefined && file === undefined) || !process?.versions?.node) return plain;
  // The name is in a variable, so that bundlers for browsers do not resolve it. Bundlers for servers, such as that of
  // Next.js, cannot follow such an import, so it is only for Node before 20.16.
  const builtIn = (name: string) => process.getBuiltinModule?.(name) ?? import(/* @vite-ignore */ name);
  const pem = ca ?? (await (await builtIn("node:fs/promises")).readFile(file!, "utf8"));
  if (Bun) return (url, init) => fetch(url, { ...init, tls: { ca: pem }, ...direct(url) } as RequestInit);
  if (Deno) {
    const client = Deno.createHttpClient({ caCerts: [pem] });
    return (url, init) => fetch(url, { ...init, client } as RequestInit);
  }
  const [https, { Readable }, { rootCertificates }] = await Promise.all(
    ["node:https", "node:stream", "node:tls"].map(builtIn),
  );
  const agent = new https.Agent({ ca: [...rootCertificates, pem], keepAlive: true });
  return async (url, init) => {
    if (!url.startsWith("https:")) return fetch(url, init);
    const request = new Request(url, init); // Converts the body to bytes and sets its content type.
    const body =
      init.body === undefined || init.body === null ? undefined : new Uint8Array(await request.arrayBuffer());
    return await new Promise<Response>((resolve, reject) => {
      const headers = { ...Object.fromEntries(request.headers), ...(body && { "content-length": body.length }) };
      const sent = https.request(
        url,
        { method: init.method, headers, agent, signal: init.signal ?? undefined },
        (answer: Incoming) => {
          const { statusCode: status } = answer;
          const empty = status === 204 || status === 304 || init.method === "HEAD";
          const received = Object.entries(answer.headers).map(([name, value]): [string, string] => [
            name,
            String(value),
          ]);
          resolve(new Response(empty ? null : Readable.toWeb(answer), { status, headers: received }));
          if (empty) answer.resume();
        },
      );
      sent.on("error", reject);
      sent.end(body);
    });
  };
}

/** True if the host of a URL is this machine. */
const isOwn = (host: string): boolean => /^(127\.[\d.]+|\[::1\]|(.+\.)?localhost)$/.test(host);

interface Incoming {
  statusCode: number;
  headers: Record<string, string | string[] | undefined>;
  resume(): void;
}
