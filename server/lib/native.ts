/** The runtime's way to native code. */
type Native = typeof import("bun:ffi");

const all = (): Native => process.getBuiltinModule("bun:ffi") as unknown as Native;

/** By its name at run time: what is imported is there for good, also for a program that is not ours. */
export const native = (): Native => ({ ...all() });

/** Nobody in this process gets it any more; who has it keeps it. */
export function forgetNative(): void {
  for (const module of [all(), (Bun as unknown as { FFI: object }).FFI])
    for (const name of Object.keys(module)) delete module[name as keyof typeof module];
}
