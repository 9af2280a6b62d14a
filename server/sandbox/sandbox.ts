import { build } from "../lib/build-info.ts";
import type { FairOptions } from "../lib/fair/places.ts";
import { createFairQueue } from "../lib/fair/queue.ts";
import type { SandboxLevel } from "../wire/names.ts";
import { bounds } from "./bounds.ts";
import { createChildren, type Spares } from "./children.ts";
import { isPlainName } from "./file-name.ts";
import type { Program, ProgramOutcome } from "./program.ts";
import { programTask } from "./program-task.ts";

interface SandboxOptions extends Spares {
  /** Asked for each program, so that a server need not wait for its self-test. */
  level: () => SandboxLevel | Promise<SandboxLevel>;
  /** Programs at a time; the others wait for their owner's turn. */
  places?: FairOptions;
}

export interface Sandbox {
  /** Throws only for the signal. `owner` is whose place the program takes. */
  run(program: Program, signal: AbortSignal, owner?: string): Promise<ProgramOutcome>;
  /** Ends all children, also those that run. */
  stop(): void;
}

/** Programs at a time in each thread, and how many of these places are kept for owners who have none. */
export const programPlaces: FairOptions = {
  count: 3 * navigator.hardwareConcurrency,
  reserve: navigator.hardwareConcurrency,
};

/** Runs each program in a fresh child process, which is never used again. */
export function createSandbox({ level, places = programPlaces, spares = 2, idle_ms }: SandboxOptions): Sandbox {
  const queue = createFairQueue(places);
  const children = createChildren({ spares, idle_ms });
  return {
    async run(program, signal, owner = "") {
      const now = await level();
      const refusal = refuse(program, now);
      if (refusal) return refused(refusal);
      const options = { language: program.language, jailed: now === "strict" };
      const task = () => programTask(program);
      return queue.run(owner, signal, (beside) => children.perform(options, task, signal, beside));
    },
    stop: children.stop,
  };
}

/** What a lean build says. */
export const noPython = "This is a lean build of runnel, without Python.";

function refuse({ language, code, files }: Program, level: SandboxLevel): string | null {
  if (level === "off") return "Code does not run on this server.";
  if (language === "python" && build.lean) return noPython;
  if (language === "python" && level !== "strict") {
    return "Python runs only where the system can enforce the sandbox (Linux with Landlock and seccomp).";
  }
  if (Buffer.byteLength(code) > bounds.source) return `The code is larger than ${bounds.source} bytes.`;
  if (files.reduce((sum, { bytes }) => sum + bytes.length, 0) > bounds.input) {
    return `The files are larger than ${bounds.input} bytes in all.`;
  }
  const odd = files.find(({ name }) => !isPlainName(name));
  return odd ? `${JSON.stringify(odd.name)} is not a valid file name.` : null;
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
