const names = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"];

/**
 * Forgets the proxies that the environment names. Call it first thing in the main thread and in every worker: a worker
 * starts from the environment of the process as it was, not as the main thread left it.
 */
export function removeProxyEnvironment(environment: Record<string, string | undefined> = process.env): void {
  // Bun's fetch hands requests to these proxies without a word, and the proxy would look the host up a second time:
  // an address that was judged public would no longer be the one that is reached.
  for (const name of names) {
    delete environment[name];
    delete environment[name.toLowerCase()];
  }
}
