import { expect } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inProject } from "../scripts/root.ts";
import { freePort } from "../server/testing/free-port.ts";
import { executable } from "./harness.ts";
import { patience_ms } from "./until.ts";

/** A command of the README that is typed as it is; others only show what could be typed. */
interface Block {
  /**
   * `start`: `npm start`. `settings`: the reader puts in what it printed. `kill`: typed, and then `npm start` as before.
   * The others are typed.
   */
  kind: "start" | "settings" | "kill" | "quickstart" | "typescript" | "python";
  code: string;
  /** What the README shows after it. */
  expected: string | null;
}

export const readme = readFileSync(inProject("README.md"), "utf8");

/** The blocks of one section, in their order. */
export function blocksOf(heading: string): Block[] {
  const [, level, rest] = new RegExp(`^(#+) ${RegExp.escape(heading)}\\n([\\s\\S]*)`, "m").exec(readme)!;
  const [section] = rest!.split(new RegExp(`^#{1,${level!.length}} (?=[A-Z])`, "m"));
  const fences = [...section!.matchAll(/^```(\w+)(?: (\w+))?\n([\s\S]*?)^```$/gm)];
  return fences.flatMap(([, language, kind, code = ""], index) => {
    if (language !== "bash" || kind === undefined) return [];
    const [, next, , expected = ""] = fences[index + 1] ?? [];
    return [{ kind: kind as Block["kind"], code, expected: next === "text" ? expected.trim() : null }];
  });
}

interface Server {
  child: Bun.Subprocess<"ignore", "pipe", "inherit">;
  address: string;
  key: string | null;
}

/**
 * A stranger who types what the README says, in one shell in the project's folder, where `npm start` has put the
 * executable. `serving`: variables of the server, such as where the reader's Ollama is.
 */
export function createReader(serving: Record<string, string> = {}) {
  const folder = mkdtempSync(join(tmpdir(), "runnel-reader-"));
  mkdirSync(join(folder, "dist"));
  symlinkSync(executable, join(folder, "dist/runnel"));
  const shell = openShell(folder);
  const port = String(freePort());
  let server: Server | null = null;

  /** What `npm start` comes to, but for its port: any free one, and each start takes the same. */
  async function start(): Promise<void> {
    const again = server;
    await again?.child.exited; // The reader's `kill -9` has ended it.
    const child = Bun.spawn([executable, "serve", "--port", port, "--json"], {
      cwd: folder,
      env: { ...environment(), ...serving },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "inherit",
    });
    const { address, keys } = JSON.parse(await firstLine(child.stdout));
    server = { child, address, key: keys?.test ?? null };
  }

  return {
    folder,
    /** Types these, and compares what they print with what the README shows. */
    async type(blocks: readonly Block[]): Promise<void> {
      for (const { kind, code, expected } of blocks) {
        if (kind === "start") await start();
        else {
          const typed = kind === "settings" ? withSettings(code, server!.address, server!.key!) : code;
          const { stdout, stderr } = await shell.run(typed);
          if (expected !== null && !fits(stdout.trim(), expected))
            expect({ code, printed: stdout.trim(), stderr }).toEqual({ code, printed: expected, stderr: "" });
          if (kind === "kill") await start();
        }
      }
    },
    /** What a command prints that the README leaves to the reader, such as how a file is run. */
    read: async (command: string): Promise<string> => (await shell.run(command)).stdout.trim(),
    async [Symbol.asyncDispose]() {
      shell.end();
      server?.child.kill("SIGKILL");
      await server?.child.exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A block of settings with the reader's own values in place of the example's. */
export function withSettings(code: string, address: string, key: string): string {
  const set = code.replace(/\bRUNNEL_URL=\S+/, `RUNNEL_URL=${address}`).replace(/sk_test_…/, key);
  expect(set).not.toContain("…");
  return set;
}

/** `…` stands for anything. Each part is taken where it comes first: a regular expression could try for ever. */
function fits(printed: string, expected: string): boolean {
  const [first = "", ...rest] = expected.split("…");
  const last = rest.pop();
  if (last === undefined) return printed === first;
  if (!printed.startsWith(first)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = printed.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return printed.endsWith(last) && printed.length - last.length >= at;
}

/** One shell for all blocks, since they use one another's variables. */
function openShell(cwd: string) {
  const bash = Bun.spawn(["bash", "--noprofile", "--norc"], {
    cwd,
    env: environment(),
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = [collect(bash.stdout), collect(bash.stderr)];
  let count = 0;
  return {
    /** Runs a block to its end. */
    async run(code: string): Promise<{ stdout: string; stderr: string }> {
      const mark = `--- end of block ${++count} ---`;
      const file = join(cwd, `block-${count}.sh`);
      writeFileSync(file, code);
      // From a file: a command of the block that reads its input would take the next block for it.
      bash.stdin.write(`. ${file} < /dev/null\nprintf '\\n%s\\n' '${mark}'; printf '%s\\n' '${mark}' >&2\n`);
      bash.stdin.flush();
      const timer = setTimeout(() => bash.kill("SIGKILL"), patience_ms); // What it had said tells where it hangs.
      const said = { stdout: await stdout.until(mark), stderr: await stderr.until(mark) };
      clearTimeout(timer);
      return said;
    },
    end(): void {
      bash.kill("SIGKILL");
    },
  };
}

/** Text as it comes, handed out up to a mark. */
function collect(output: ReadableStream<Uint8Array>) {
  let text = "";
  let wake = () => {};
  let ended = false;
  void (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of output) {
      text += decoder.decode(chunk, { stream: true });
      wake();
    }
    ended = true;
    wake();
  })();
  return {
    async until(mark: string): Promise<string> {
      while (!text.includes(mark)) {
        if (ended) throw new Error(`It ended and had said: ${text}`);
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      const at = text.indexOf(mark);
      const before = text.slice(0, at);
      text = text.slice(at + mark.length);
      return before;
    },
  };
}

const firstLine = (output: ReadableStream<Uint8Array>): Promise<string> => collect(output).until("\n");

/** Without the caller's settings: a stranger has none. */
function environment(): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^RUNNEL_|_proxy$/i.test(name)));
}
