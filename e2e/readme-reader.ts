import { expect } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inProject } from "../scripts/root.ts";
import { freePort } from "../server/testing/free-port.ts";
import { executable } from "./harness.ts";
import { patience_ms } from "./until.ts";

/** A block of the README with commands that are run; other blocks are examples only. */
interface Block {
  /**
   * `start`: `npm start`. `kill`: run while the block before it runs once more and answers, and followed by `npm start`;
   * `expected` is the output of that other block then. The others are run as printed.
   */
  kind: "start" | "kill" | "quickstart" | "typescript" | "python";
  code: string;
  /** Documented output of the block. */
  expected: string | null;
}

export const readme = readFileSync(inProject("README.md"), "utf8");

/** Returns the blocks of one section, in order. */
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
}

/**
 * Plays a new user who types the README's commands in one shell in the project's folder, where `npm start` has built
 * the executable. `serving`: variables of the server, such as the address of the reader's Ollama.
 */
export function createReader(serving: Record<string, string> = {}) {
  const folder = mkdtempSync(join(tmpdir(), "runnel-reader-"));
  mkdirSync(join(folder, "dist"));
  symlinkSync(executable, join(folder, "dist/runnel"));
  const shell = openShell(folder);
  const port = String(freePort());
  let server: Server | null = null;

  /** Does the same as `npm start`, but on a free port, the same at each start. */
  async function start(): Promise<void> {
    const again = server;
    await again?.child.exited; // The reader's `kill -9` has ended it.
    const child = Bun.spawn([executable, "dev", "--port", port, "--json"], {
      cwd: folder,
      env: { ...environment(), ...serving },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "inherit",
    });
    await firstLine(child.stdout);
    server = { child };
  }

  /** Returns a block with the reader's port in place of the usual one. */
  const typed = (code: string): string => code.replaceAll("127.0.0.1:8440", `127.0.0.1:${port}`);

  function compare(code: string, printed: string, expected: string | null): void {
    if (expected !== null && !fits(printed.trim(), expected))
      expect({ code, printed: printed.trim() }).toEqual({ code, printed: expected });
  }

  /** Runs a block in another terminal, and `interrupt` once it answers. Returns its output. */
  async function interrupted(code: string, interrupt: () => Promise<void>): Promise<string> {
    const terminal = Bun.spawn(["bash", "-c", `{ ${typed(code)}\n} 2>&1`], {
      cwd: folder,
      env: environment(),
      stdin: "ignore",
      stdout: "pipe",
      stderr: "inherit",
    });
    const output = collect(terminal.stdout);
    const first = await output.until(answerBegins);
    await interrupt();
    return first + answerBegins + (await output.rest());
  }

  return {
    folder,
    /** Runs these blocks, and compares their output with the README's. */
    async type(blocks: readonly Block[]): Promise<void> {
      for (const [index, { kind, code, expected }] of blocks.entries()) {
        if (kind === "start") await start();
        else if (kind === "kill") {
          const printed = await interrupted(blocks[index - 1]!.code, async () => {
            await shell.run(code);
            await start();
          });
          compare(code, printed, expected);
        } else compare(code, (await shell.run(typed(code))).stdout, expected);
      }
    },
    /** Returns the output of a command that the README leaves to the reader, such as how a file is run. */
    read: async (command: string): Promise<string> => (await shell.run(typed(command))).stdout.trim(),
    async [Symbol.asyncDispose]() {
      shell.end();
      server?.child.kill("SIGKILL");
      await server?.child.exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** First words of the answer of the agent that is there already. */
const answerBegins = "It is";

/**
 * `…` matches anything. Each part is searched at its first occurrence, because a regular expression could backtrack
 * forever.
 */
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

/** Opens one shell for all blocks, because they use one another's variables. */
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
    /** Runs a block and waits for its end. */
    async run(code: string): Promise<{ stdout: string; stderr: string }> {
      const mark = `--- end of block ${++count} ---`;
      const file = join(cwd, `block-${count}.sh`);
      writeFileSync(file, code);
      // From a file, because a command that reads standard input would take the next block for it.
      bash.stdin.write(`. ${file} < /dev/null 2>&1\nprintf '\\n%s\\n' '${mark}'; printf '%s\\n' '${mark}' >&2\n`);
      bash.stdin.flush();
      const timer = setTimeout(() => bash.kill("SIGKILL"), patience_ms); // The output so far shows where it hangs.
      const said = { stdout: await stdout.until(mark), stderr: await stderr.until(mark) };
      clearTimeout(timer);
      return said;
    },
    end(): void {
      bash.kill("SIGKILL");
    },
  };
}

/** Collects text and returns it up to a mark. */
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
    /** Returns the output from here to its end. */
    async rest(): Promise<string> {
      while (!ended)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      return text;
    },
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

/** Returns an environment without the caller's settings: a new user has none. */
function environment(): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^RUNNEL_|_proxy$/i.test(name)));
}
