import { constants } from "node:os";
import { root } from "./root.ts";

/** Runs a command to its end with the terminal shared and gives its exit code. */
export async function run(command: string[], { env = {} }: { env?: Record<string, string> } = {}): Promise<number> {
  const child = Bun.spawn(command, {
    cwd: root,
    stdio: ["inherit", "inherit", "inherit"],
    env: { ...process.env, ...env },
  });
  return await ended(child);
}

/** Runs a command in this process's place: in the caller's folder, with our signals, until it ends. */
export async function become(command: string[]): Promise<number> {
  const child = Bun.spawn(command, { stdio: ["inherit", "inherit", "inherit"] });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => forward(child, signal));
  return await ended(child);
}

/** The exit code as a shell counts it: a death by signal is 128 and the signal's number. */
async function ended(child: Bun.Subprocess): Promise<number> {
  await child.exited;
  return child.signalCode ? 128 + constants.signals[child.signalCode as NodeJS.Signals] : (child.exitCode ?? 1);
}

function forward(child: Bun.Subprocess, signal: NodeJS.Signals): void {
  // Ctrl-C reaches every process of the terminal by itself: sent on as well, the child would take it for a second one.
  if (signal === "SIGINT" && process.stdin.isTTY) return;
  child.kill(signal);
}
