import { constants } from "node:os";
import { root } from "./root.ts";

/** Runs a command to its end on the shared terminal and returns its exit code. */
export async function run(command: string[], { env = {} }: { env?: Record<string, string> } = {}): Promise<number> {
  const child = Bun.spawn(command, {
    cwd: root,
    stdio: ["inherit", "inherit", "inherit"],
    env: { ...process.env, ...env },
  });
  return await exitCodeOf(child);
}

/** Runs a command in this process's place: in the caller's folder, with forwarded signals, until it ends. */
export async function replaceProcess(command: string[]): Promise<number> {
  const child = Bun.spawn(command, { stdio: ["inherit", "inherit", "inherit"] });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => forward(child, signal));
  return await exitCodeOf(child);
}

/** Returns the exit code as a shell counts it: a death by signal is 128 plus the signal's number. */
async function exitCodeOf(child: Bun.Subprocess): Promise<number> {
  await child.exited;
  return child.signalCode ? 128 + constants.signals[child.signalCode as NodeJS.Signals] : (child.exitCode ?? 1);
}

function forward(child: Bun.Subprocess, signal: NodeJS.Signals): void {
  // The terminal sends Ctrl-C to every process itself: forwarded as well, the child would get it twice.
  if (signal === "SIGINT" && process.stdin.isTTY) return;
  child.kill(signal);
}
