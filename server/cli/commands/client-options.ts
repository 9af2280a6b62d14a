import { join } from "node:path";
import type { ApiClient } from "./api-client.ts";
import { CliError, usageError } from "./exit-code.ts";
import { dataDirOption, jsonOption, option } from "./option.ts";
import { printBeside } from "./print.ts";

/** Flags by which a command reaches a server. */
export interface ClientFlags {
  url?: string;
  apiKey?: string;
  cacert?: string;
  dataDir: string;
  json?: boolean;
}

/** Options of commands that call a server. */
export const clientOptions = () => [
  option("--url <address>", "the server (default: the one that runs on the data directory)"),
  option("--api-key <key>", "an API key; the variable keeps it out of the list of processes"),
  option("--cacert <file>", "certificate to trust (default: the local server's own)"),
  dataDirOption(),
  jsonOption(),
];

/** Opens a client. A patient one waits for rate limits, and says so. */
export async function openClient(flags: ClientFlags, isPatient = false): Promise<ApiClient> {
  const { createApiClient } = await import("./api-client.ts");
  const { address, ca, key } = await reach(flags);
  const apiKey = flags.apiKey ?? key;
  if (apiKey === undefined)
    throw usageError('Give an API key by RUNNEL_API_KEY or --api-key. A server of "runnel dev" needs none.');
  return createApiClient({ address, ca, apiKey, isPatient, told: tellWait });
}

const tellWait = (wait_ms: number): void =>
  printBeside(`A rate limit is reached. Going on in ${Math.ceil(wait_ms / 1000)} s.`);

/**
 * Returns the server's address, the CA to trust and a key; for the local server from its data directory. Only a server
 * for development has a key there.
 */
async function reach({ url, cacert, dataDir }: Pick<ClientFlags, "url" | "cacert" | "dataDir">) {
  const local = await localServer(dataDir);
  const urlText = url ?? local?.address;
  if (urlText === undefined)
    throw usageError(`No server runs on ${dataDir}. Start one with "runnel dev" or "runnel serve", or give --url.`);
  const address = checkAddress(urlText);
  const isLocal = local && new URL(local.address).origin === new URL(address).origin;
  const trusted = cacert ?? (isLocal ? local.cacert : null);
  return { address, ca: trusted ? await Bun.file(trusted).text() : null, key: isLocal ? local.api_key : undefined };
}

/** Prepares a request without an API key. Throws if no server runs; `ask` throws if it does not respond. */
export async function openProbe(flags: Omit<ClientFlags, "apiKey" | "json">, path: string) {
  const { address, ca, unproven } = await probed(flags);
  const url = `${address}${path}`;
  const tls = unproven ? { rejectUnauthorized: false } : ca === null ? undefined : { ca };
  return {
    url,
    /** True if the certificate is not verified: send no secret. */
    unproven,
    ask: (init: RequestInit = {}): Promise<Response> =>
      fetch(url, { ...init, redirect: "error", ...(tls && { tls }) } as RequestInit).catch((error) => {
        throw new CliError(`${url} cannot be reached: ${error instanceof Error ? error.message : error}`);
      }),
  };
}

/**
 * Returns the address of a server on this machine, from its data directory. Its certificate may be for another name.
 */
async function probed(flags: Omit<ClientFlags, "apiKey" | "json">) {
  const local = flags.url === undefined && flags.cacert === undefined ? await localServer(flags.dataDir) : null;
  if (local?.here && local.cacert === null) return { address: local.here, ca: null, unproven: true };
  return { ...(await reach(flags)), unproven: false };
}

async function localServer(dataDir: string) {
  const [{ readServerFile }, { isProcessAlive }] = await Promise.all([
    import("../../storage/db/server-file.ts"),
    import("../../lib/is-process-alive.ts"),
  ]);
  const file = readServerFile(join(dataDir, "server.json"));
  // After a server was killed, another program may have its port.
  return file && isProcessAlive(file.pid) ? file : null;
}

function checkAddress(text: string): string {
  const url = URL.parse(text);
  const loopback = url !== null && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname);
  if (!url || !/^https?:$/.test(url.protocol))
    throw usageError(`--url takes an address such as https://host:8443, not "${text}".`);
  if (url.protocol === "http:" && !loopback)
    throw usageError("The key would cross the network in clear text: use https.");
  return url.href.replace(/\/(v1\/?)?$/, "");
}
