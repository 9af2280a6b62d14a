import { existsSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { succeeds, toolFolder } from "./tool-folder.ts";

/**
 * Returns the folder of the programs of a Python environment in `.tools/` with these packages (`httpx==0.28.1`),
 * fetched from PyPI if missing; without pip unless that is one of them. Returns null if unavailable: it needs python3
 * with venv, and PyPI. PYTHON names another python3, unless `python` does.
 */
export async function pythonWith(
  name: string,
  packages: readonly string[],
  python = ownPython(),
): Promise<string | null> {
  const folder = await toolFolder(name, (folder) => installPython(folder, packages, python));
  return folder && join(folder, "bin");
}

/** Makes a folder a Python environment with these packages, or options of uv's `pip install`; false if unavailable. */
export async function installPython(
  folder: string,
  packages: readonly string[],
  python = ownPython(),
): Promise<boolean> {
  const uv = await installer();
  if (!uv) return false;
  const env = { ...process.env, UV_PYTHON_DOWNLOADS: "never" }; // Tests use the installed Python.
  const venv = [uv, "venv", "--allow-existing", "--relocatable", "--python", Bun.which(python) ?? python, folder];
  return (await succeeds(venv, { env })) && (await succeeds([uv, "pip", "install", "--python", folder, ...packages]));
}

/**
 * Returns a folder in `.tools/` with the contents of a package of PyPI, without its dependencies; null if unavailable:
 * it needs python3 with venv, and PyPI.
 */
export const wheelFolder = (name: string, version: string): Promise<string | null> =>
  toolFolder(`${name}-${version}`, async (folder) => {
    const uv = await installer();
    const flags = ["--no-deps", "--python", Bun.which(ownPython()) ?? ownPython(), "--target", folder];
    return uv !== null && (await succeeds([uv, "pip", "install", ...flags, `${name}==${version}`]));
  });

/** Installs a wheel without its dependencies into a folder, for the Python among these programs. Throws uv's output. */
export async function installWheel(wheel: string, target: string, programs: string): Promise<void> {
  const flags = ["--quiet", "--offline", "--no-deps", "--python", dirname(programs), "--target", target];
  const { success, stderr } = Bun.spawnSync([(await installer())!, "pip", "install", ...flags, wheel]);
  if (!success) throw new Error(`The wheel is not installed:\n${stderr}`);
}

const ownPython = (): string => process.env.PYTHON ?? "python3";

/** Returns uv, which creates an environment in a second where venv and pip take 25. */
async function installer(): Promise<string | null> {
  const name = "uv-0.13.8";
  const folder = await toolFolder(name, async (folder) => {
    const pip = [join(folder, "bin/python"), "-m", "pip", "install", "--disable-pip-version-check"];
    return (await succeeds([ownPython(), "-m", "venv", folder])) && (await succeeds([...pip, name.replace("-", "==")]));
  });
  return folder && join(folder, "bin/uv");
}

/** Returns the path of a Python of this version (`3.10`), also if pyenv has it without selecting it. */
export function interpreterOf(version: string): string | null {
  const pyenv = process.env.PYENV_ROOT ?? join(homedir(), ".pyenv");
  const versions = join(pyenv, "versions");
  const found = existsSync(versions) ? readdirSync(versions).filter((name) => name.startsWith(`${version}.`)) : [];
  const candidates = [Bun.which(`python${version}`), ...found.map((name) => join(versions, name, "bin/python3"))];
  const runs = (path: string | null) => path !== null && Bun.spawnSync([path, "--version"]).success;
  return candidates.find(runs) ?? null;
}
