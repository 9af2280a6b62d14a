import { join } from "node:path";
import type { ApiClient } from "./api-client.ts";
import { usageError } from "./exit-code.ts";
import { dataDirOption, jsonOption, option } from "./option.ts";

/** How a command reaches a server, as it was given. */
export interface ClientFlags {
  url?: string;
  apiKey?: string;
  cacert?: string;
  dataDir: string;
  json?: boolean;
}

/** The flags of commands that talk to a server. */
export const clientOptions = () => [
  option("--url <address>", "the server (default: the one that runs on the data directory)"),
  option("--api-key <key>", "an API key; the variable keeps it out of the list of processes"),
  option("--cacert <file>", "certificate to trust (default: the local server's own)"),
  dataDirOption(),
  jsonOption(),
];

/** Opens the client that the flags describe. */
export async function openClient({ apiKey, ...flags }: ClientFlags): Promise<ApiClient> {
  const { createApiClient } = await import("./api-client.ts");
  if (apiKey === undefined) throw usageError("Give an API key by RUNNEL_API_KEY or --api-key.");
  return createApiClient({ ...(await reach(flags)), apiKey });
}

/** Where the server is, and whose certificates are trusted there; for the local server its data directory tells. */
export async function reach({ url, cacert, dataDir }: Pick<ClientFlags, "url" | "cacert" | "dataDir">) {
  const { readServerFile } = await import("./server-file.ts");
  const local = readServerFile(join(dataDir, "server.json"));
  if (url === undefined && !local)
    throw usageError(`No server runs on ${dataDir}. Start one with "runnel serve", or give --url.`);
  const address = checkAddress(url ?? local!.address);
  const trusted = cacert ?? (local && new URL(local.address).origin === new URL(address).origin ? local.cacert : null);
  return { address, ca: trusted ? await Bun.file(trusted).text() : null };
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
