import { packageModules } from "./package-modules.ts";

/** A CPython of the operator, which runs programs instead of the built-in one. */
export interface SystemPython {
  executable: string;
  /** As `3.13.5`. */
  version: string;
  /** Paths that it reads: its library, its packages, and the libraries of the system that they load. */
  readable: string[];
  /** Packages that programs would look for, as far as they are installed. */
  packages: string[];
}

const findTimeout_ms = 20_000;
/** The oldest CPython whose asyncio and ast the driver knows. */
const oldest = [3, 9];

const probe = `
import ctypes, importlib.util, json, os, sys, sysconfig
import bz2, lzma, sqlite3, ssl, zlib
with open("/proc/self/maps") as file:
    mapped = {line.split(None, 5)[5].strip() for line in file if "/" in line}
libraries = {os.path.dirname(path) for path in mapped if ".so" in path}
system = ["/usr", "/usr/local", "/"]
prefixes = [path for path in (sys.prefix, sys.base_prefix) if path not in system]
paths = [path for path in sys.path if path and os.path.exists(path)]
others = ["/etc/ld.so.cache", "/usr/share/zoneinfo", "/dev/null", "/dev/urandom", "/dev/zero"]
inside = lambda path: any(path == other or path.startswith(other + "/") for other in prefixes)
readable = prefixes + sorted(path for path in {*paths, *libraries, *others} if os.path.exists(path) and not inside(path))
readable += [os.path.realpath(path) for path in readable if os.path.realpath(path) not in readable]
packages = [name for name in sys.argv[1].split(",") if importlib.util.find_spec(name) is not None]
print(json.dumps({"version": sys.version_info[:3], "readable": readable, "packages": packages}))
`;

/** Asks an interpreter for what it needs. Throws a sentence for the operator if it cannot be used. */
export async function findSystemPython(executable: string): Promise<SystemPython> {
  const child = Bun.spawn([executable, "-I", "-B", "-c", probe, packageModules.join(",")], {
    stdio: ["ignore", "pipe", "pipe"],
    env: {},
    timeout: findTimeout_ms,
  });
  const [said, errors, code] = await Promise.all([textOf(child.stdout), textOf(child.stderr), child.exited]);
  if (code !== 0) throw new Error(`it does not run: ${errors.trim().split("\n").at(-1) || `it ended with ${code}`}`);
  const { version, readable, packages }: Omit<SystemPython, "executable" | "version"> & { version: number[] } =
    JSON.parse(said);
  const hidden = readable.find((path) => /^\/(workspace|output|input|mnt\/data)(\/|$)/.test(path));
  if (hidden !== undefined) throw new Error(`it needs ${hidden}, where programs have their own files`);
  const [major = 0, minor = 0] = version;
  const [oldMajor = 0, oldMinor = 0] = oldest;
  if (major < oldMajor || (major === oldMajor && minor < oldMinor))
    throw new Error(`it is CPython ${version.join(".")}, older than ${oldest.join(".")}`);
  return { executable, version: version.join("."), readable, packages };
}

const textOf = (stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<string> => new Response(stream).text();
