import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { StartupBanner } from "../cli/serve/startup-banner.ts";

export const main = join(import.meta.dir, "../main.ts");
export const environment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !name.startsWith("RUNNEL_")),
);

interface Said {
  code: number;
  out: string;
  err: string;
}

/** Runs the real command line to its end. */
export async function runnel(args: string[], env: Record<string, string> = {}): Promise<Said> {
  const child = Bun.spawn([process.execPath, main, ...args], {
    env: { ...environment, ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { code, out, err };
}

/** Starts a server and waits for its banner on standard output. */
export async function startServer(dataDir: string, args: string[] = []) {
  // These tests run no programs, and testing the sandbox would take a second for each server.
  const fixed = ["--json", "--port", "0", "--workers", "0", "--sandbox", "off"];
  const child = Bun.spawn([process.execPath, main, "serve", ...fixed, "--data-dir", dataDir, ...args], {
    env: environment,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const log = readLog(child.stderr);
  const { value } = await child.stdout.getReader().read();
  if (!value) throw new Error(`The server said nothing: ${await log.whole}`);
  const greeting = JSON.parse(new TextDecoder().decode(value)) as StartupBanner;
  const ca = greeting.cacert ? readFileSync(greeting.cacert, "utf8") : undefined;
  return {
    child,
    greeting,
    log,
    get: (path: string, init: RequestInit = {}) =>
      fetch(`${greeting.address}${path}`, {
        keepalive: false,
        redirect: "manual",
        ...(ca && { tls: { ca } }),
        ...init,
      }),
    stop: async () => {
      child.kill("SIGTERM");
      return await child.exited;
    },
  };
}

/** Reads a log as it is written; `holds` waits for a word in it. */
function readLog(stream: ReadableStream<Uint8Array>) {
  let text = "";
  const waiting = new Map<string, () => void>();
  const whole = (async () => {
    for await (const chunk of stream) {
      text += new TextDecoder().decode(chunk);
      for (const [word, resolve] of waiting) if (text.includes(word)) resolve();
    }
    return text;
  })();
  const holds = (word: string) =>
    new Promise<void>((resolve) => (text.includes(word) ? resolve() : void waiting.set(word, resolve)));
  return { whole, holds };
}

// biome-ignore lint/suspicious/noExplicitAny: a test asks for fields that the types of the server do not promise.
export const parsed = async (answer: Response): Promise<any> => JSON.parse(await answer.text());

export const bearer = (key: string | undefined) => ({ headers: { authorization: `Bearer ${key}` } });
