/** The runtime's way to native code. */
type Native = typeof import("bun:ffi");

const all = (): Native => process.getBuiltinModule("bun:ffi") as unknown as Native;

/** By its name at run time: what is imported is there for good, also for a program that is not ours. */
export const native = (): Native => ({ ...all() });

const cLibraries = ["libc.so.6", `libc.musl-${process.arch === "x64" ? "x86_64" : "aarch64"}.so.1`];

/** Functions of Linux's C library, whichever it is. Throws where there is none. */
export function openCLibrary<T extends Parameters<Native["dlopen"]>[1]>(functions: T) {
  const { dlopen } = native();
  for (const name of cLibraries) {
    try {
      return dlopen(name, functions);
    } catch {}
  }
  throw new Error("This system has no C library of Linux.");
}

/** Nobody in this process gets it any more; who has it keeps it. */
export function forgetNative(): void {
  for (const module of [all(), (Bun as unknown as { FFI: object }).FFI])
    for (const name of Object.keys(module)) delete module[name as keyof typeof module];
}
