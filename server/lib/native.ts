/** Bun's module for native code. */
type Native = typeof import("bun:ffi");

const all = (): Native => process.getBuiltinModule("bun:ffi") as unknown as Native;

/** Loads the module at run time: a static import would stay reachable for programs in the sandbox, too. */
export const native = (): Native => ({ ...all() });

const cLibraries = ["libc.so.6", `libc.musl-${process.arch === "x64" ? "x86_64" : "aarch64"}.so.1`];

/** Opens functions of Linux's C library (glibc or musl). Throws if there is none. */
export function openCLibrary<T extends Parameters<Native["dlopen"]>[1]>(functions: T) {
  const { dlopen } = native();
  for (const name of cLibraries) {
    try {
      return dlopen(name, functions);
    } catch {}
  }
  throw new Error("This system has no C library of Linux.");
}

/** Makes native code unreachable for later code of this process; references taken before keep working. */
export function forgetNative(): void {
  for (const module of [all(), (Bun as unknown as { FFI: object }).FFI])
    for (const name of Object.keys(module)) delete module[name as keyof typeof module];
}
