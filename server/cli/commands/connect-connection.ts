import { throwNotFound } from "../../domain/not-found.ts";
import { timestamp } from "../../domain/time.ts";
import { randomToken } from "../../lib/random-token.ts";
import { callbackResponse } from "../../resources/oauth/callback-page.ts";
import { cliActor } from "./actor.ts";
import { commandTarget } from "./command-target.ts";
import { CliError, usageError } from "./exit-code.ts";
import type { DataFlags } from "./option.ts";
import { print } from "./print.ts";
import { withStores } from "./with-stores.ts";

export interface ConnectOptions extends DataFlags {
  publicUrl?: string;
  port?: string;
}

const callbackPath = "/oauth/callback";
const poll_ms = 200;

/**
 * Prints the address at which an operator consents, and waits until the connection has its tokens or was refused them.
 * The browser comes back to a server at its public URL, or to this process on loopback.
 */
export async function connect(name: string, { dataDir, json, publicUrl, port }: ConnectOptions): Promise<void> {
  const target = commandTarget();
  if (target && publicUrl === undefined)
    throw usageError("The leader of a cluster needs --public-url: the browser comes back to it.");
  const gone = target?.gone ?? new AbortController().signal;
  await withStores(dataDir, false, async (stores) => {
    const { consents, revocations } = stores.connected();
    const listener = publicUrl === undefined ? listen(portOf(port), consents.complete) : null;
    try {
      const base = listener?.url ?? originOf(publicUrl ?? "");
      const { state, expires_at_ms } = await consents.authorize(name, base + callbackPath, cliActor());
      // The way back to this machine needs no page and no cookie: the request is tied to this process, which listens.
      const url = listener
        ? ((await consents.send(state, listener.browser)) ?? throwNotFound())
        : `${base}/oauth/consent/${state}`;
      const shown = { object: "connection_consent", url, expires_at: timestamp(expires_at_ms) };
      print(json, shown, () => `Open this address, and consent:\n\n  ${url}\n\nWaiting until ${shown.expires_at}.`);
      let outcome = consents.outcomeOf(state);
      while (!outcome) {
        await Bun.sleep(poll_ms);
        if (gone.aborted) return;
        outcome = consents.outcomeOf(state);
      }
      await listener?.answered();
      await revocations.idle();
      if (outcome.error) throw new CliError(`${name} is not connected: ${outcome.error.message}`);
      print(json, { object: "connection", name, connected: true }, () => `${name} is connected.`);
    } finally {
      await consents.stop();
      await listener?.stop();
    }
  });
}

type Complete = ReturnType<
  ReturnType<Parameters<Parameters<typeof withStores>[2]>[0]["connected"]>["consents"]["complete"]
>;

/** Listens on loopback for the browser that comes back. */
function listen(port: number, complete: (query: URLSearchParams, browser: string) => Complete) {
  const browser = randomToken();
  const pending = new Set<Promise<Response>>();
  const server = serveLoopback(port, (request) => {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname !== callbackPath || request.method !== "GET") return new Response(null, { status: 404 });
    const answer = complete(searchParams, browser).then((outcome) =>
      outcome ? callbackResponse(outcome) : new Response(null, { status: 404 }),
    );
    pending.add(answer);
    return answer;
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    /** Takes the place of a browser's cookie. */
    browser,
    /** Resolves once the browser has its page. */
    answered: () => Promise.allSettled(pending),
    stop: () => server.stop(),
  };
}

function serveLoopback(port: number, fetch: (request: Request) => Response | Promise<Response>) {
  try {
    return Bun.serve({ hostname: "127.0.0.1", port, fetch });
  } catch (error) {
    throw new CliError(`127.0.0.1:${port} cannot be listened on: ${(error as Error).message}`);
  }
}

function portOf(text = "0"): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw usageError("--port takes a whole number from 0 to 65535.");
}

function originOf(text: string): string {
  const url = URL.parse(text);
  if (url && /^https?:$/.test(url.protocol)) return url.href.replace(/\/$/, "");
  throw usageError("--public-url takes an address such as https://agents.example.com.");
}
