import { commandTarget } from "./command-target.ts";
import { CliError } from "./exit-code.ts";

/** True if a person at the terminal can answer. */
export const canAsk = (): boolean => commandTarget() === null && process.stdin.isTTY === true;

/** Asks on standard error, so that standard output has only the command's result. */
export async function ask(question: string, signal?: AbortSignal): Promise<string> {
  const { createInterface } = await import("node:readline/promises"); // Loaded lazily: it would cost each start a millisecond.
  const lines = createInterface({
    input: process.stdin,
    output: process.stderr,
    terminal: process.stdin.isTTY === true,
  });
  try {
    return await lines.question(question, signal ? { signal } : {});
  } finally {
    lines.close();
  }
}

/** Reads a password without showing it, in raw mode. */
export async function askPassword(question: string): Promise<string> {
  const { stdin, stderr } = process;
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let text = "";
  const onData = (chunk: Buffer) => {
    for (const key of chunk.toString()) {
      if (key === "\r" || key === "\n" || key === "\u0004") return resolve(text);
      if (key === "\u0003") return reject(new CliError("Given up."));
      if (key === "\u007f" || key === "\b") text = text.slice(0, -1);
      else text += key;
    }
  };
  stderr.write(question);
  stdin.setRawMode(true);
  stdin.on("data", onData).resume();
  try {
    return await promise;
  } finally {
    stdin.off("data", onData).pause();
    stdin.setRawMode(false);
    stderr.write("\n");
  }
}
