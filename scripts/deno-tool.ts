import { join } from "node:path";
import { npmWith } from "./npm-tool.ts";

const version = "2.9.6";
const libc = process.platform === "linux" ? "-glibc" : "";

/** Returns the path of a Deno, fetched from the npm registry if missing; null if unavailable. */
export async function denoPath(): Promise<string | null> {
  const name = `@deno/${process.platform}-${process.arch}${libc}`;
  const modules = await npmWith(`deno-${version}`, [`${name}@${version}`]);
  return modules && join(modules, name, "deno");
}
