import { type ClientFlags, reach } from "./client-options.ts";
import { CliError } from "./exit-code.ts";
import { print } from "./print.ts";

const patience_ms = 4000;

/** Asks a server whether it can do its work, as a container's health check does. Throws where it cannot, with why. */
export async function health({ json, ...flags }: Omit<ClientFlags, "apiKey">): Promise<void> {
  const { address: origin, ca } = await reach(flags).catch((error: Error) => {
    throw new CliError(error.message); // To Docker 1 means unhealthy, and 2 nothing that may be used.
  });
  const address = `${origin}/readyz`;
  const options = { signal: AbortSignal.timeout(patience_ms), redirect: "error" as const, ...(ca && { tls: { ca } }) };
  const response = await fetch(address, options).catch((error) => {
    throw new CliError(`${address} cannot be reached: ${error instanceof Error ? error.message : error}`);
  });
  const said = await response.text();
  if (!response.ok) throw new CliError(`${address} returned ${response.status}: ${said.slice(0, 500)}`);
  print(json, JSON.parse(said), () => "ready");
}
