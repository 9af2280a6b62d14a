import { dlopen, ptr } from "bun:ffi";
import { isCompiled } from "./assets.ts";

// What the runtime reads when a process begins, and never again. It sends 256 requests at once otherwise and lets the
// rest wait: that many slow tools of one project would hold up the model calls of all the others.
const name = "BUN_CONFIG_MAX_HTTP_REQUESTS";
const most = "16384";

/**
 * Begins this process anew, under the same id, so that it may have thousands of requests on their way at once. Does
 * nothing where that cannot be done (another system than Linux, a run from source), or where the variable is set.
 */
export function allowMoreRequests(): void {
  if (process.platform !== "linux" || !isCompiled || process.env[name]) return;
  const environment = Object.entries({ ...process.env, [name]: most }).map(([key, value]) => `${key}=${value}`);
  const self = strings([process.execPath]);
  // Comes back only if it fails, and then all goes on as before.
  execve()?.(self.texts[0]!, strings([process.execPath, ...process.argv.slice(2)]).list, strings(environment).list);
}

function execve() {
  const signature = { execve: { args: ["ptr", "ptr", "ptr"], returns: "int" } } as const;
  for (const library of ["libc.so.6", `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`])
    try {
      return dlopen(library, signature).symbols.execve;
    } catch {} // The other C library, then.
  return null;
}

/** Strings as C wants them: each ends with a zero, and so does the list of their addresses. */
function strings(values: readonly string[]) {
  const texts = values.map((value) => Buffer.from(`${value}\0`));
  return { texts, list: new BigUint64Array([...texts.map((text) => BigInt(ptr(text))), 0n]) };
}
