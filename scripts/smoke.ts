import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inProject } from "./root.ts";

interface Checks {
  /** Milliseconds for each of them. */
  patience?: number;
  /** False to leave out the embedding model, which an emulated processor loads for minutes. */
  embedding?: boolean;
}

/**
 * Starts the executable from an empty folder, away from sources and node_modules, and checks its complete content: its
 * version, a server with database, TLS and dashboard, a regular stop on SIGTERM, and its embedding model.
 */
export async function smoke(executable: string, { patience = 30_000, embedding = true }: Checks = {}): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "runnel-smoke-"));
  try {
    await expectVersion(executable, folder, patience);
    await expectServer(executable, folder, patience);
    if (embedding) await expectEmbedding(executable, folder, patience);
    console.log(
      `smoke: version, serve, /healthz, /dashboard${embedding ? ", SIGTERM and the embedding model" : " and SIGTERM"} are well`,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function expectVersion(executable: string, cwd: string, patience: number): Promise<void> {
  const { said, code } = await outputOf([executable, "version"], cwd, patience);
  if (code !== 0 || !/\d+\.\d+\.\d+/.test(said))
    throw new Error(`"version" ended with ${code} and said: ${said.trim()}`);
}

/** Checks the doctor's embedding finding alone, because the other ones depend on the machine. */
async function expectEmbedding(executable: string, cwd: string, patience: number): Promise<void> {
  const { said } = await outputOf([executable, "doctor", "--json", "--data-dir", join(cwd, "data")], cwd, patience);
  const { findings } = JSON.parse(said) as { findings: { check: string; result: string; detail: string }[] };
  const found = findings.find(({ check }) => check === "embedding");
  if (found?.result !== "ok") throw new Error(`The embedding model is not well: ${found?.detail}`);
}

async function outputOf(command: string[], cwd: string, timeout: number): Promise<{ said: string; code: number }> {
  const child = Bun.spawn(command, {
    cwd,
    env: cleanEnv(),
    timeout,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  return { said: await new Response(child.stdout).text(), code: await child.exited };
}

async function expectServer(executable: string, cwd: string, patience: number): Promise<void> {
  const command = [executable, "serve", "--port", "0", "--data-dir", join(cwd, "data")];
  const log = Bun.file(join(cwd, "log"));
  const server = Bun.spawn(command, { cwd, env: cleanEnv(), stdin: "ignore", stdout: "pipe", stderr: log });
  const timer = setTimeout(() => server.kill("SIGKILL"), patience);
  try {
    const address = await printedAddress(server.stdout);
    await expectPage(`${address}/healthz`, patience);
    await expectPage(`${address}/dashboard/`, patience);
    server.kill("SIGTERM");
    if ((await server.exited) !== 0)
      throw new Error(`SIGTERM ended the server with ${server.signalCode ?? server.exitCode}.`);
  } catch (error) {
    throw new Error(`The server failed its smoke run:\n${await log.text()}`, { cause: error });
  } finally {
    clearTimeout(timer);
    server.kill("SIGKILL");
  }
}

/**
 * Returns the address that the server prints once it listens. The rest of its output is read too, or a full pipe would
 * block it.
 */
async function printedAddress(output: ReadableStream<Uint8Array>): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  void (async () => {
    const decoder = new TextDecoder();
    let text = "";
    for await (const chunk of output) {
      text += decoder.decode(chunk, { stream: true });
      const address = /(https:\/\/[^\s/"]+:\d+)[^\n]*\n/.exec(text)?.[1];
      if (address) resolve(address);
    }
    reject(new Error(`It ended before it printed an address:\n${text}`));
  })();
  return await promise;
}

async function expectPage(url: string, patience: number): Promise<void> {
  // The certificate was just generated; the end-to-end suites verify it.
  const response = await fetch(url, { tls: { rejectUnauthorized: false }, signal: AbortSignal.timeout(patience) });
  if (response.status !== 200) throw new Error(`GET ${url} answered ${response.status}: ${await response.text()}`);
}

/** Without the caller's settings, like a new user's first start. */
function cleanEnv(): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("RUNNEL_")));
}

if (import.meta.main) await smoke(inProject("dist/runnel"));
