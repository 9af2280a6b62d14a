import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { inProject } from "./root.ts";

const underWay = new Map<string, Promise<string | null>>();

/** Returns a folder in `.tools/`, filled by `make` if missing; null if `make` fails. */
export function toolFolder(name: string, make: (folder: string) => Promise<boolean>): Promise<string | null> {
  if (!underWay.has(name)) underWay.set(name, made(inProject(".tools", name), make));
  return underWay.get(name)!;
}

async function made(folder: string, make: (folder: string) => Promise<boolean>): Promise<string | null> {
  if (existsSync(folder)) return folder;
  const making = `${folder}.${process.pid}`; // Two processes may begin at once, and one may be interrupted.
  mkdirSync(making, { recursive: true });
  try {
    if (!(await make(making))) return null;
    if (!existsSync(folder)) renameSync(making, folder);
    return folder;
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
}

/** True if a program exists and exits with 0. */
export async function succeeds(
  command: string[],
  options: { cwd?: string; env?: NodeJS.Dict<string> } = {},
): Promise<boolean> {
  if (!Bun.which(command[0]!)) return false;
  const child = Bun.spawn(command, { ...options, stdin: "ignore", stdout: "ignore", stderr: "ignore" });
  return (await child.exited) === 0;
}
