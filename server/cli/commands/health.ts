import { type ClientFlags, openProbe } from "./client-options.ts";
import { CliError } from "./exit-code.ts";
import { print } from "./print.ts";

const patience_ms = 4000;

/** Checks a server's readiness, as a container's health check. Throws with the reason if it is not ready. */
export async function health({ json, ...flags }: Omit<ClientFlags, "apiKey">): Promise<void> {
  const { url, ask } = await openProbe(flags, "/readyz").catch((error: Error) => {
    throw new CliError(error.message); // Docker: exit code 1 means unhealthy, 2 is reserved.
  });
  const response = await ask({ signal: AbortSignal.timeout(patience_ms) });
  const text = await response.text();
  if (!response.ok) throw new CliError(`${url} returned ${response.status}: ${text.slice(0, 500)}`);
  print(json, JSON.parse(text), () => "ready");
}
