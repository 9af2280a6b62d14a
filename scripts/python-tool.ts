import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { inProject } from "./root.ts";

/**
 * The folder of the programs of a Python environment in `.tools/` that has these packages (`httpx==0.28.1`), fetched
 * from PyPI when it is not there yet. Null where that cannot be had: it needs python3 with venv, and PyPI. PYTHON names
 * another python3.
 */
export async function pythonWith(name: string, packages: readonly string[]): Promise<string | null> {
  const folder = inProject(".tools", name);
  const programs = join(folder, "bin");
  if (existsSync(join(folder, ".installed"))) return programs;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const steps = [
    [process.env.PYTHON ?? "python3", "-m", "venv", folder],
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
