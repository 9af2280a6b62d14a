import type { SandboxLevel } from "../../domain/api-types/enums.ts";
import { pathFault } from "../../domain/skills.ts";
import { build } from "../../lib/build-info.ts";
import type { FairOptions } from "../../lib/fair-queue/fair-semaphore.ts";
import { createFairQueue } from "../../lib/fair-queue/queue.ts";
import { bounds } from "./bounds.ts";
import { childLanguageOf } from "./child-language.ts";
import { createChildren, type Spares } from "./children.ts";
import { isPlainName } from "./file-name.ts";
import type { Program, ProgramOutcome } from "./program.ts";
import { programTask } from "./program-task.ts";
import type { SystemPython } from "./system-python.ts";

interface SandboxOptions extends Spares {
  /** Called for each program, so that the server need not wait for the self-test at start. */
  level: () => SandboxLevel | Promise<SandboxLevel>;
  /** The operator's interpreter for Python; null: the built-in one. */
  python?: SystemPython | null;
  /** Concurrent programs; others wait for their owner's turn. */
  places?: FairOptions;
}

export interface Sandbox {
  /** Rejects only if the signal is aborted. `owner` is used for fair scheduling. */
  run(program: Program, signal: AbortSignal, owner?: string): Promise<ProgramOutcome>;
  /** Kills all children, also busy ones. */
  stop(): void;
}

/** Concurrent programs per thread, and the places kept free for owners without any. */
export const programPlaces: FairOptions = {
  count: 3 * navigator.hardwareConcurrency,
  reserve: navigator.hardwareConcurrency,
};

/** Runs each program in a fresh child process that is never reused. */
export function createSandbox(given: SandboxOptions): Sandbox {
  const { level, python = null, places = programPlaces, spares = 2, idle_ms } = given;
  const queue = createFairQueue(places);
  const children = createChildren({ spares, idle_ms });
  return {
    async run(program, signal, owner = "") {
      const now = await level();
      const refusal = refuse(program, now, python);
      if (refusal) return refused(refusal);
      const child = childLanguageOf(program, python);
      const options = { language: child, jailed: now === "strict", ...(child === "system-python" && { python }) };
      const task = () => programTask(program, child === "system-python");
      return queue.run(owner, signal, (ownerPrograms) => children.perform(options, task, signal, ownerPrograms));
    },
    stop: children.stop,
  };
}

/** Error message of a lean build. */
export const noPython = "This is a lean build of runnel, without Python.";

function refuse(program: Program, level: SandboxLevel, python: SystemPython | null): string | null {
  const { language, code, files, mounted = [] } = program;
  if (level === "off") return "Code does not run on this server.";
  if (language === "python" && build.lean && python === null) return noPython;
  if (language === "python" && level !== "strict") {
    return "Python runs only where the system can enforce the sandbox (Linux with Landlock and seccomp).";
  }
  if (Buffer.byteLength(code) > bounds.source) return `The code is larger than ${bounds.source} bytes.`;
  if ([...files, ...mounted].reduce((sum, { bytes }) => sum + bytes.length, 0) > bounds.input) {
    return `The files are larger than ${bounds.input} bytes in all.`;
  }
  const invalidFile = files.find(({ name }) => !isPlainName(name));
  if (invalidFile) return `${JSON.stringify(invalidFile.name)} is not a valid file name.`;
  const invalidPath = mounted.find(({ name }) => !name.startsWith("/") || pathFault(name.slice(1)) !== null);
  return invalidPath ? `${JSON.stringify(invalidPath.name)} is not a valid path.` : null;
}

const refused = (message: string): ProgramOutcome => ({
  result: null,
  error: { code: "sandbox_failed", message },
  stdout: "",
  stderr: "",
  stdout_truncated: false,
  stderr_truncated: false,
  files: [],
  files_dropped: 0,
  duration_ms: 0,
  peak_memory_mb: null,
});
