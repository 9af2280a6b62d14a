import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installWheel } from "../scripts/python-tool.ts";
import { inProject } from "../scripts/root.ts";
import { toSync } from "../scripts/sdk-codegen/python.ts";
import { build } from "../server/lib/build-info.ts";
import type { CommandResult, Runnel } from "./harness.ts";
import { proxyCanary } from "./proxy-canary.ts";

/** The two clients of the package. */
export const clientKinds = ["sync", "async"] as const;
export type Kind = (typeof clientKinds)[number];

/**
 * Installs the wheel that a server serves, with the Python of this folder, to run the programs in `e2e/clients`. They
 * are written for the async client; for the sync one their async keywords are removed, as in the package itself.
 */
export async function installClient(server: Runnel, programs: string) {
  const folder = mkdtempSync(join(tmpdir(), "runnel-python-"));
  const site = join(folder, "site");
  const certificate = join(folder, "ca.pem");
  writeFileSync(certificate, server.ca ?? "");
  const name = `runnel_sdk-${build.version}-py3-none-any.whl`;
  const wheel = join(folder, name);
  await Bun.write(wheel, await server.fetch(`/docs/clients/${name}`, { key: null }));
  await installWheel(wheel, site, programs);

  const plain = {
    PATH: process.env.PATH ?? "",
    HOME: folder,
    PYTHONPATH: site,
    PYTHONDONTWRITEBYTECODE: "1",
    RUNNEL_URL: server.url,
    RUNNEL_API_KEY: server.keys.test,
    RUNNEL_CACERT: certificate,
  };
  const environment = { ...plain, ...proxyCanary.environment };

  const write = (names: string[], kind: Kind): string => {
    const source = names.map((name) => readFileSync(inProject("e2e/clients", `${name}.py`), "utf8")).join("\n");
    const path = join(mkdtempSync(join(folder, "program-")), `${names[0]}.py`);
    writeFileSync(
      path,
      kind === "sync" ? `${toSync(source)}\n\nmain()\n` : `${source}\n\nimport asyncio\n\nasyncio.run(main())\n`,
    );
    return path;
  };

  return {
    folder,
    site,
    wheel,
    programs,
    /** Runs these files of `e2e/clients` as one program; `onLine` is called for each printed line. */
    run: (
      names: string[],
      kind: Kind,
      env: Record<string, string> = {},
      onLine?: (line: string) => void,
    ): Promise<CommandResult> =>
      runProgram([join(programs, "python"), write(names, kind)], {
        cwd: folder,
        env: { ...environment, ...env },
        onLine,
      }),
    /** Runs Python, or with `-m` a tool of its environment, with these arguments. */
    python: (...args: string[]): Promise<CommandResult> => {
      const cwd = join(folder, "work");
      mkdirSync(cwd, { recursive: true });
      // Other programs use the proxies of their environment.
      const env = args[0] === "-m" ? plain : environment;
      return runProgram([join(programs, "python"), ...args], { cwd, env });
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

const patience_ms = 170_000;

interface Options {
  cwd: string;
  env?: Record<string, string>;
  onLine?: (line: string) => void;
}

async function runProgram(command: string[], { cwd, env = {}, onLine }: Options): Promise<CommandResult> {
  const child = Bun.spawn(command, { cwd, env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const timer = setTimeout(() => child.kill("SIGKILL"), patience_ms);
  const [stdout, stderr, code] = await Promise.all([
    textOf(child.stdout, onLine),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  clearTimeout(timer);
  return { code, stdout, stderr };
}

async function textOf(stream: ReadableStream<Uint8Array>, onLine: Options["onLine"]): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let heard = 0;
  for await (const chunk of stream) {
    text += decoder.decode(chunk, { stream: true });
    for (let end = text.indexOf("\n", heard); end >= 0; end = text.indexOf("\n", heard)) {
      onLine?.(text.slice(heard, end));
      heard = end + 1;
    }
  }
  return text;
}
