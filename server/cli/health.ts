import { type ClientFlags, openProbe } from "./client-options.ts";
import { CliError } from "./exit-code.ts";
import { print } from "./print.ts";

const patience_ms = 4000;

/** Asks a server whether it can do its work, as a container's health check does. Throws where it cannot, with why. */
export async function health({ json, ...flags }: Omit<ClientFlags, "apiKey">): Promise<void> {
  const { url, ask } = await openProbe(flags, "/readyz").catch((error: Error) => {
    throw new CliError(error.message); // To Docker 1 means unhealthy, and 2 nothing that may be used.
  });
  const response = await ask({ signal: AbortSignal.timeout(patience_ms) });
  const said = await response.text();
  if (!response.ok) throw new CliError(`${url} returned ${response.status}: ${said.slice(0, 500)}`);
  print(json, JSON.parse(said), () => "ready");
}
