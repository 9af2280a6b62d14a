import { isCompiled } from "./assets.ts";

// What the runtime reads when a process begins, and never again. It sends 256 requests at once otherwise and lets the
// rest wait: that many slow tools of one project would hold up the model calls of all the others.
const name = "BUN_CONFIG_MAX_HTTP_REQUESTS";
const most = "16384";

/** Whether a command line may be one that starts the server, which is the default; only those need as many requests. */
export const serves = ([first = "serve"]: readonly string[]): boolean => first === "serve" || first.startsWith("-");

/**
 * Begins this process anew, under the same id, so that it may have thousands of requests on their way at once. Does
 * nothing where that cannot be done (another system than Linux, a run from source), or where the variable is set.
 */
export function allowMoreRequests(): void {
  if (process.platform !== "linux" || !isCompiled || process.env[name]) return;
  const environment = { ...process.env, [name]: most } as Record<string, string>;
  try {
    process.execve?.(process.execPath, [process.execPath, ...process.argv.slice(2)], environment);
  } catch {
    // A system that forbids it: the server works with what it has.
  }
}
