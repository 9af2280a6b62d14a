import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { inProject } from "./root.ts";

/**
 * The folder of the programs of a Python environment in `.tools/` that has these packages (`httpx==0.28.1`), fetched
 * from PyPI when it is not there yet. Null where that cannot be had: it needs python3 with venv, and PyPI. PYTHON names
 * another python3, unless `python` does.
 */
export async function pythonWith(
  name: string,
  packages: readonly string[],
  python = process.env.PYTHON ?? "python3",
): Promise<string | null> {
  const folder = inProject(".tools", name);
  const programs = join(folder, "bin");
  if (existsSync(join(folder, ".installed"))) return programs;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const steps = [
    [python, "-m", "venv", folder],
    [join(programs, "pip"), "install", "--quiet", "--disable-pip-version-check", ...packages],
  ];
  for (const command of steps) {
    const done = Bun.which(command[0]!)
      ? await Bun.spawn(command, { stdin: "ignore", stdout: "ignore", stderr: "ignore" }).exited
      : 1;
    if (done !== 0) {
      rmSync(folder, { recursive: true, force: true });
      return null;
    }
  }
  await Bun.write(join(folder, ".installed"), "");
  return programs;
}

/** The path of a Python of this version (`3.10`), wherever it stands: also where pyenv has it and does not choose it. */
export function interpreterOf(version: string): string | null {
  const pyenv = process.env.PYENV_ROOT ?? join(homedir(), ".pyenv");
  const versions = join(pyenv, "versions");
  const found = existsSync(versions) ? readdirSync(versions).filter((name) => name.startsWith(`${version}.`)) : [];
  const candidates = [Bun.which(`python${version}`), ...found.map((name) => join(versions, name, "bin/python3"))];
  const runs = (path: string | null) => path !== null && Bun.spawnSync([path, "--version"]).success;
  return candidates.find(runs) ?? null;
}
