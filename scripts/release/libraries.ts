import { existsSync, readFileSync } from "node:fs";
import type { TarEntry } from "../gzipped-tar.ts";

/** Returns the libraries that the loader of this machine maps beside a program, and the licence of its C library. */
export function librariesOf(program: string): { libraries: TarEntry[]; documents: TarEntry[] } {
  const { stdout, exitCode } = Bun.spawnSync(["ldd", program]);
  const paths = [...stdout.toString().matchAll(/(?:=> )?(\/\S+) \(0x/g)].map(([, path]) => path!);
  if (exitCode !== 0 || paths.length === 0) throw new Error(`ldd does not know the libraries of ${program}.`);
  const licence = "/usr/share/doc/libc6/copyright";
  return {
    libraries: paths.map((path) => [path, readFileSync(path)]),
    documents: existsSync(licence) ? [["libc6-copyright", readFileSync(licence)]] : [],
  };
}
