import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runStorm, type StormReport } from "../../e2e/storm/storm.ts";
import { compile } from "../build.ts";
import { root } from "../root.ts";
import { type Mutant, mutate } from "./mutants.ts";

/** Lets a storm loose on an executable with the fault in it, until the counter that must see the fault does. */
export async function runMutant(mutant: Mutant, seed: number): Promise<StormReport> {
  const folder = mkdtempSync(join(tmpdir(), "runnel-mutant-"));
  try {
    const program = await compileMutant(mutant, folder);
    return await runStorm({ program, kills: 100, runs: 100, seed, until: mutant.caughtBy });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function compileMutant(mutant: Mutant, folder: string): Promise<string> {
  const copy = join(folder, "sources");
  mkdirSync(copy);
  for (const name of ["server", "migrations", "package.json", "dist/dashboard", "dist/docs"])
    cpSync(join(root, name), join(copy, name), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  const file = join(copy, mutant.file);
  writeFileSync(file, mutate(readFileSync(file, "utf8"), mutant));
  return compile({ from: copy, outfile: join(folder, "runnel") });
}
