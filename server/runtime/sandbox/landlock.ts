import { closeSync, openSync, statSync } from "node:fs";
import { addressOf, type Libc } from "./libc.ts";

const [createRuleset, addRule, restrictSelf] = [444, 445, 446];
const [O_PATH, O_CLOEXEC] = [0x200000, 0x80000];
const [execute, writeFile, readFile, readDir] = [1, 2, 4, 8];

/** Paths that stay accessible. */
interface AllowedPaths {
  /** Files and folders. */
  read: readonly string[];
  execute: readonly string[];
  write: readonly string[];
}

/**
 * Restricts this thread and its later images to the given paths, and blocks TCP and signals to others if this kernel
 * can (seccomp covers both on older ones). Returns false if the kernel cannot.
 */
export function restrictTo(libc: Libc, { read, execute: run, write }: AllowedPaths): boolean {
  const abi = libc.syscall(createRuleset, 0, 0, 1);
  if (abi < 1) return false;
  const rights = new BigUint64Array([fileRights(abi), abi >= 4 ? 3n : 0n, abi >= 6 ? 3n : 0n]);
  const rules = libc.syscall(createRuleset, addressOf(rights), abi >= 6 ? 24 : abi >= 4 ? 16 : 8);
  if (rules < 0) return false;
  for (const path of read) allow(libc, rules, path, readFile | readDir);
  for (const path of run) allow(libc, rules, path, readFile | execute);
  for (const path of write) allow(libc, rules, path, readFile | writeFile);
  return libc.syscall(restrictSelf, rules, 0) === 0;
}

/** Returns all rights that this kernel knows, because rights that are not listed stay allowed. */
const fileRights = (abi: number): bigint => (abi >= 5 ? 0xffffn : abi >= 3 ? 0x7fffn : abi >= 2 ? 0x3fffn : 0x1fffn);

/** Allows a path; a missing one needs no rule. */
function allow(libc: Libc, rules: number, path: string, rights: number): void {
  try {
    const folder = statSync(path).isDirectory();
    const file = openSync(path, O_PATH | O_CLOEXEC);
    const rule = new DataView(new ArrayBuffer(12));
    rule.setBigUint64(0, BigInt(folder ? rights : rights & ~readDir), true);
    rule.setInt32(8, file, true);
    libc.syscall(addRule, rules, 1, addressOf(new Uint8Array(rule.buffer)));
    closeSync(file);
  } catch {}
}
