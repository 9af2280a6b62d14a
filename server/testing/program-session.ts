import { sha256 } from "../lib/hash.ts";
import type { Program, ProgramFile, SharedFile, SharedFolder } from "../runtime/sandbox/program.ts";
import type { Sandbox } from "../runtime/sandbox/sandbox.ts";

const never = new AbortController().signal;
export const bytesOf = (text: string) => new TextEncoder().encode(text);
const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
const withHash = ({ name, bytes }: ProgramFile): SharedFile => ({ name, bytes, sha256: sha256(bytes) });
export const sharedFile = (name: string, text: string): SharedFile => withHash({ name, bytes: bytesOf(text) });
export const textsOf = (files: readonly ProgramFile[]) => files.map(({ name, bytes }) => [name, textOf(bytes)]);

type More = Partial<Program> & { language?: Program["language"] };

/** Runs programs one after the other, each with the folder and the variables that the one before left. */
export function programSession(sandbox: Sandbox, start: SharedFile[] = []) {
  let shared: SharedFolder = { files: start, saves_variables: true, variables: null };
  const run = async (code: string, { language = "python", ...more }: More = {}) => {
    const isPython = language === "python";
    const program: Program = {
      language,
      code,
      arguments: null,
      files: [],
      timeout_ms: isPython ? 50_000 : 30_000,
      memory_mb: isPython ? 128 : 64,
      shared: { ...shared, saves_variables: isPython, variables: isPython ? shared.variables : null },
      ...more,
    };
    const outcome = await sandbox.run(program, never);
    const { changed = [], removed = [], variables } = outcome.shared ?? {};
    const names = new Set([...removed, ...changed.map(({ name }) => name)]);
    const files = [...shared.files.filter(({ name }) => !names.has(name)), ...changed.map(withHash)];
    shared = { ...shared, files, ...(variables !== undefined && { variables }) };
    return outcome;
  };
  return { run, variables: () => shared.variables, files: () => textsOf(shared.files) };
}
