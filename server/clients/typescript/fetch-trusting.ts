import type { Fetch } from "./client.ts";

/**
 * `fetch` for a server that signed its own certificate. Bun and Deno can be told whom to trust; node's `fetch` cannot, so
 * there node's own `https` is behind it. Browsers trust what the system trusts.
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
    process?: { versions?: { node?: string } };
  };
  // Bun hands requests to the proxies that the environment names, also those to this machine, with their key.
  const direct = (url: string): object => (Bun && isOwn(new URL(url).hostname) ? { proxy: false } : {});
  const plain: Fetch = (url, init) => fetch(url, { ...init, ...direct(url) } as RequestInit);
  if ((ca === undefined && file === undefined) || !process?.versions?.node) return plain;
  // By a name in a variable: bundlers for browsers would look for it.
  const builtIn = (name: string) => import(/* @vite-ignore */ name);
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
    const request = new Request(url, init); // Makes bytes of the body, with their content type.
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

/** Whether a host, as a URL has it, is this machine. */
const isOwn = (host: string): boolean => /^(127\.[\d.]+|\[::1\]|(.+\.)?localhost)$/.test(host);

interface Incoming {
  statusCode: number;
  headers: Record<string, string | string[] | undefined>;
  resume(): void;
}
