import type { FairOptions } from "../lib/fair/places.ts";
import { createFairQueue } from "../lib/fair/queue.ts";
import type { SandboxLevel } from "../wire/names.ts";
import { bounds } from "./bounds.ts";
import { type Child, runReplacing, startChild } from "./child-process.ts";
import { isPlainName } from "./file-name.ts";
import type { Program, ProgramOutcome } from "./program.ts";
import { spareChildren } from "./spare-children.ts";

interface SandboxOptions {
  /** Asked for each program, so that a server need not wait for its self-test. */
  level: () => SandboxLevel | Promise<SandboxLevel>;
  /** Programs at a time; the others wait for their owner's turn. */
  places?: FairOptions;
  /** Children that wait with their language loaded, once a program of it has run. */
  spares?: number;
  /** How long they wait. An idle server pays for none. */
  idle_ms?: number;
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
export function createSandbox({
  level,
  places = programPlaces,
  spares: spareCount = 2,
  idle_ms = 60_000,
}: SandboxOptions): Sandbox {
  const queue = createFairQueue(places);
  const running = new Set<Child>();
  let stopped = false;
  const spares = spareChildren({ count: spareCount, idle_ms });

  const runNow = async (program: Program, strict: boolean, signal: AbortSignal) => {
    const options = { language: program.language, jailed: strict };
    const start = async () => {
      const child = (await spares.take(options)) ?? startChild(options);
      running.add(child);
      void child.gone.then(() => running.delete(child));
      if (stopped) child.kill();
      return child;
    };
    try {
      return await runReplacing(start, program, signal);
    } finally {
      spares.fill(options);
    }
  };

  return {
    async run(program, signal, owner = "") {
      const now = await level();
      const refusal = refuse(program, now);
      if (refusal) return refused(refusal);
      return queue.run(owner, signal, () => runNow(program, now === "strict", signal));
    },
    stop() {
      stopped = true;
      spares.stop();
      for (const child of running) child.kill();
    },
  };
}

function refuse({ language, code, files }: Program, level: SandboxLevel): string | null {
  if (level === "off") return "Code does not run on this server.";
  if (language === "python" && level !== "strict") {
    return "Python runs only where the system can enforce the sandbox (Linux with Landlock and seccomp).";
  }
  if (Buffer.byteLength(code) > bounds.source) return `The code is larger than ${bounds.source} bytes.`;
  if (files.reduce((sum, { bytes }) => sum + bytes.length, 0) > bounds.input) {
    return `The files are larger than ${bounds.input} bytes in all.`;
  }
  const odd = files.find(({ name }) => !isPlainName(name));
  return odd ? `${JSON.stringify(odd.name)} is no name for a file.` : null;
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
