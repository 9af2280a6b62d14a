import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { installPython } from "../python-tool.ts";
import { smoke } from "../smoke.ts";
import { succeeds, toolFolder } from "../tool-folder.ts";
import { librariesOf } from "./libraries.ts";
import { isOwn, type Target } from "./targets.ts";

const patience = 180_000; // Beside other archives' compression, and on an emulated processor.

/**
 * Extracts an archive and starts its executable in a root of its own, with nothing but its system's libraries. Returns a
 * line that says whether this was possible here. Deletes the archive and throws if its executable does not start.
 */
export async function startArchive(target: Target, archive: string): Promise<string> {
  if (target.archive === "zip") return `${target.name}: not started: it needs another system`;
  const folder = mkdtempSync(join(tmpdir(), "runnel-release-"));
  try {
    await succeed(["tar", "-xf", archive, "-C", folder, "--strip-components=1"]);
    const program = join(folder, "runnel");
    const root = await rootFor(target, program);
    if ("missing" in root) return `${target.name}: not started: ${root.missing}`;
    await smoke(rootWith(join(folder, "root"), program, root), { patience, embedding: !root.emulator });
    return `${target.name}: started in a root of its own${root.emulator ? " under an emulator" : ""}`;
  } catch (error) {
    rmSync(archive);
    throw error;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Root {
  /** Paths inside the root, and the files that are copied there. */
  files: [inside: string, file: string][];
  /** Program inside the root that runs the executable. */
  emulator?: string;
}

/** Returns what a root for this platform needs beside the executable, or why there is none here. */
async function rootFor(target: Target, program: string): Promise<Root | { missing: string }> {
  const { name } = target;
  if (!name.startsWith("linux") || process.platform !== "linux") return { missing: "it needs another system" };
  if (process.getuid?.() !== 0 || !["unshare", "chroot"].every((each) => Bun.which(each)))
    return { missing: "only root can make file systems" };
  if (isOwn(target)) return { files: librariesOf(program).libraries.map(([path]) => [path, path]) };
  if (name === `linux-${process.arch}-musl`) return await muslRoot();
  if (name === "linux-arm64") return emulatedRoot();
  return { missing: "there is neither its C library nor an emulator here" };
}

const muslLoader = `/lib/ld-musl-${process.arch === "x64" ? "x86_64" : "aarch64"}.so.1`;
// Its wheels for musl bring the libraries of C++, which Debian does not build for musl. Newer ones need musl 1.2.4 (RELR).
const wheel = { name: "greenlet", version: "3.1.1" };
// The library is from a GCC that does not have these yet. Both end the process.
const missingInWheel = ["_ZSt28__throw_bad_array_new_lengthv", "_ZSt21__glibcxx_assert_failPKciS0_S0_"];

async function muslRoot(): Promise<Root | { missing: string }> {
  if (!existsSync(muslLoader)) return { missing: "it needs the package musl" };
  const cc = Bun.which("cc");
  if (cc === null) return { missing: "it needs a compiler for C" };
  const cpu = process.arch === "x64" ? "x86_64" : "aarch64";
  const folder = await toolFolder(`musl-libraries-${wheel.version}`, async (place) => {
    const flags = [`--python-platform=${cpu}-unknown-linux-musl`, "--no-deps", "--target", place];
    if (!(await installPython(place, [...flags, `${wheel.name}==${wheel.version}`]))) return false;
    const source = join(place, "missing.c");
    writeFileSync(source, missingInWheel.map((name) => `void ${name}(void) { __builtin_trap(); }\n`).join(""));
    const [library] = new Bun.Glob(`${wheel.name}.libs/libstdc++*`).scanSync({ cwd: place, absolute: true });
    const link = ["-shared", "-nostdlib", "-fPIC", "-Wl,--no-as-needed,-soname,libstdc++.so.6", source, library!];
    return await succeeds([cc, "-o", join(place, "libstdc++.so.6"), ...link]);
  });
  if (folder === null) return { missing: "it needs PyPI, for the libraries of C++" };
  const inWheel = join(folder, `${wheel.name}.libs`);
  const libraries = [join(folder, "libstdc++.so.6"), ...readdirSync(inWheel).map((file) => join(inWheel, file))];
  return {
    files: [muslLoader, ...libraries].map((path) => [path === muslLoader ? path : `/usr/lib/${basename(path)}`, path]),
  };
}

/** The emulator, and the C library of the other processor, are packages of Debian. */
function emulatedRoot(): Root | { missing: string } {
  const emulator = Bun.which("qemu-aarch64-static");
  const libraries = "/usr/aarch64-linux-gnu/lib";
  if (!emulator || !existsSync(libraries)) return { missing: "it needs qemu-user-static and libc6-arm64-cross" };
  const names = ["ld-linux-aarch64.so.1", "libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1"];
  return {
    emulator: "/emulator",
    files: [["/emulator", emulator], ...names.map((name): [string, string] => [`/lib/${name}`, join(libraries, name)])],
  };
}

/** Lays a root with these files, and returns the path of a script that runs the executable in it. */
function rootWith(root: string, program: string, { files, emulator = "" }: Root): string {
  for (const path of ["dev", "proc", "sys", "tmp"]) mkdirSync(join(root, path), { recursive: true });
  for (const [inside, file] of [...files, ["/usr/bin/runnel", program] as const]) {
    mkdirSync(dirname(join(root, inside)), { recursive: true });
    copyFileSync(file, join(root, inside));
  }
  const script = `${root}.sh`;
  // The caller's folder is at its own path in the root, too.
  const inside = `mount --make-rprivate /
mount --bind ${root} ${root}
mount -t proc proc ${root}/proc
mount --rbind /dev ${root}/dev
mount --rbind /sys ${root}/sys
mkdir -p "$PWD" "${root}$PWD"
mount --bind "$PWD" "${root}$PWD"
exec chroot ${root} ${emulator} /usr/bin/runnel "$@"`;
  writeFileSync(script, `#!/bin/sh\nexec unshare --mount sh -ec '${inside}' sh "$@"\n`, { mode: 0o755 });
  return script;
}

async function succeed(command: string[]): Promise<void> {
  const child = Bun.spawn(command, { stdin: "ignore", stdout: "ignore", stderr: "pipe" });
  const said = await new Response(child.stderr).text();
  if ((await child.exited) !== 0) throw new Error(`\`${command.join(" ")}\` failed: ${said.trim()}`);
}
