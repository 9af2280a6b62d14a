import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, chromium } from "playwright";
import { denoPath } from "../scripts/deno-tool.ts";
import { build } from "../server/lib/build-info.ts";
import type { Json, Runnel } from "./harness.ts";
import config from "./playwright.config.ts";
import { proxyCanary } from "./proxy-canary.ts";
import { withTimeout } from "./until.ts";

/**
 * A program that uses the client. It is sent to a runtime as source text, so it sees only its arguments. `say` sends a
 * message to the test while the program runs.
 */
export type Program = (given: {
  library: Json;
  runnel: Json;
  args: Json;
  say: (word: Json) => void;
}) => Promise<unknown>;

interface Start {
  url: string;
  apiKey: string;
  args?: Json;
  options?: object;
  environment?: Record<string, string>;
}

/** A running program. */
export interface RunningProgram {
  /** Waits for this number of messages and returns all of them. */
  heard(times: number): Promise<Json[]>;
  /** Resolves to the return value. Rejects with the program's error, or with its standard error. */
  result: Promise<Json>;
}

export interface Runtime {
  name: "node" | "bun" | "deno" | "browser";
  start(program: Program, start: Start): RunningProgram;
}

/** node, bun, a browser, and Deno if available, each with the client that the executable serves. */
export async function startRuntimes(server: Runnel) {
  const folder = mkdtempSync(join(tmpdir(), "runnel-client-"));
  const archive = `runnel-sdk-${build.version}.tgz`;
  await Bun.write(join(folder, archive), await server.fetch(`/docs/clients/${archive}`, { key: null }));
  writeFileSync(join(folder, "package.json"), '{"private": true, "type": "module"}');
  const npm = ["npm", "install", "--offline", "--no-audit", "--no-fund", "--loglevel=error", `./${archive}`];
  const installed = Bun.spawnSync(npm, { cwd: folder });
  if (installed.exitCode !== 0) throw new Error(`npm install: ${installed.stderr}`);
  const browser = await chromium.launch(config.use!.launchOptions!);
  const deno = await denoPath();
  if (!deno) console.warn("skipped: the TypeScript client in Deno (the npm registry has none for this machine)");
  const denoCommand = deno && [deno, "run", "--quiet", "--no-prompt", "--allow-all", "--node-modules-dir=manual"];
  return {
    all: [
      processRuntime("node", ["node"], folder),
      processRuntime("bun", [process.execPath], folder),
      ...(denoCommand ? [processRuntime("deno", denoCommand, folder)] : []),
      pageRuntime(browser),
    ],
    /** Runs a program from a file and returns its output. Throws if it fails or writes to standard error. */
    async runFile(name: "node" | "bun", text: string, environment: Record<string, string>): Promise<string> {
      writeFileSync(join(folder, "file.js"), text);
      const command = name === "node" ? "node" : process.execPath;
      const env = { PATH: process.env.PATH ?? "", HOME: folder, ...proxyCanary.environment, ...environment };
      const child = Bun.spawn([command, "file.js"], {
        cwd: folder,
        env,
        stdin: "ignore",
        stdout: "pipe",
        stderr: "pipe",
      });
      const [said, complaints] = await Promise.all([
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
      ]);
      if ((await child.exited) !== 0 || complaints !== "") throw new Error(`${name}: ${complaints}`);
      return said;
    },
    async [Symbol.asyncDispose]() {
      await browser.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const callOf = (program: Program, { url, apiKey, args, options }: Start): string =>
  `(${program})({ library, runnel: new library.Runnel(${JSON.stringify({ baseUrl: url, apiKey, ...options })}), args: ${JSON.stringify(args ?? null)}, say })`;

/** Runs programs in their own process, in a folder where the client is installed. */
function processRuntime(name: "node" | "bun" | "deno", command: string[], folder: string): Runtime {
  return {
    name,
    start(program, start) {
      const cwd = mkdtempSync(join(folder, "program-"));
      mkdirSync(cwd, { recursive: true });
      const text = `import * as library from "runnel-sdk";
const tell = (line) => process.stdout.write(JSON.stringify(line) + "\\n");
const say = (word) => tell({ word });
tell({ result: await ${callOf(program, start)} });
`;
      writeFileSync(join(cwd, "program.js"), text);
      // Deno itself uses the proxies of its environment.
      const proxies = name === "deno" ? {} : proxyCanary.environment;
      const env = { PATH: process.env.PATH ?? "", HOME: folder, ...proxies, ...start.environment };
      const child = Bun.spawn([...command, "program.js"], {
        cwd,
        env,
        stdin: "ignore",
        stdout: "pipe",
        stderr: "pipe",
      });
      const words = wordList();
      const ended = (async (): Promise<Json> => {
        let rest = "";
        let result: Json;
        for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
          const lines = (rest + chunk).split("\n");
          rest = lines.pop()!;
          for (const line of lines.map((one): Json => JSON.parse(one)))
            if ("word" in line) words.add(line.word);
            else result = line.result;
        }
        const [code, said] = await Promise.all([child.exited, new Response(child.stderr).text()]);
        if (code !== 0 || said !== "") throw new Error(`${name} ended with ${code}: ${said}`);
        return result;
      })();
      return runningOf(words, ended, () => child.kill("SIGKILL"));
    },
  };
}

/** Runs programs in a page of the server's documentation, under its content security policy. */
function pageRuntime(browser: Browser): Runtime {
  return {
    name: "browser",
    start(program, start) {
      const words = wordList();
      const context = browser.newContext({ ignoreHTTPSErrors: true });
      const ended = (async (): Promise<Json> => {
        const page = await (await context).newPage();
        await page.exposeFunction("told", words.add);
        await page.goto(`${start.url}/docs`);
        return await page.evaluate(
          `(async () => { const say = (word) => void told(word); const library = await import("/docs/clients/runnel-sdk-${build.version}.js"); return await ${callOf(program, start)}; })()`,
        );
      })();
      // If the browser has exited already, there is no page to close.
      const close = async (): Promise<void> => (await context).close().catch(() => {});
      void ended.then(close, close);
      return runningOf(words, ended, close);
    },
  };
}

function runningOf(words: ReturnType<typeof wordList>, ended: Promise<Json>, stop: () => unknown): RunningProgram {
  const result = withTimeout(ended, "the program ends", 50_000);
  result.catch(stop);
  return {
    heard: (times) =>
      withTimeout(Promise.race([words.count(times), result.then(() => words.all)]), `the program says ${times} words`),
    result,
  };
}

function wordList() {
  const all: Json[] = [];
  let waiting: { times: number; resolve: (words: Json[]) => void }[] = [];
  return {
    all,
    add(word: Json): void {
      all.push(word);
      for (const { times, resolve } of waiting) if (all.length >= times) resolve(all);
      waiting = waiting.filter(({ times }) => all.length < times);
    },
    count: (times: number): Promise<Json[]> =>
      new Promise((resolve) => {
        if (all.length >= times) resolve(all);
        else waiting.push({ times, resolve });
      }),
  };
}
