import { native, openCLibrary } from "../../lib/native.ts";

const { FFIType, ptr } = native();
const word = FFIType.u64;

/** A number or an address, both accepted by the kernel. */
export type Word = number | bigint;

/** Functions of the C library that a process needs to give up its privileges. */
export function openLibc() {
  const { symbols } = openCLibrary({
    syscall: { args: [word, word, word, word, word, word], returns: FFIType.i64 },
    prctl: { args: [FFIType.i32, word, word, word, word], returns: FFIType.i32 },
    setrlimit: { args: [FFIType.i32, FFIType.ptr], returns: FFIType.i32 },
    getppid: { args: [], returns: FFIType.i32 },
  });
  const words = (values: Word[]) => Array.from({ length: 5 }, (_, at) => BigInt(values[at] ?? 0));
  return {
    /** Returns a negative number if refused. */
    syscall: (number: number, ...values: Word[]): number => {
      const [a, b, c, d, e] = words(values) as [bigint, bigint, bigint, bigint, bigint];
      return Number(symbols.syscall(BigInt(number), a, b, c, d, e));
    },
    prctl: (option: number, ...values: Word[]): number => {
      const [a, b, c, d] = words(values) as [bigint, bigint, bigint, bigint];
      return symbols.prctl(option, a, b, c, d);
    },
    setrlimit: (resource: number, limit: number): number =>
      symbols.setrlimit(resource, ptr(new BigUint64Array([BigInt(limit), BigInt(limit)]))),
    getppid: (): number => symbols.getppid(),
  };
}

export type Libc = ReturnType<typeof openLibc>;

/** Returns the address of a buffer. The caller keeps it alive until the kernel has read it. */
export const addressOf = (bytes: Uint8Array | Uint32Array | BigUint64Array): bigint => BigInt(ptr(bytes));

/** Returns a NUL-terminated text. */
export const cString = (text: string): Uint8Array => Buffer.from(`${text}\0`);
