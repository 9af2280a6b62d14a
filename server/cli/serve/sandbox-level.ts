import type { SandboxLevel } from "../../domain/api-types/enums.ts";
import type { Log } from "../../lib/log.ts";
import { jailFaults, selfTest, systemPythonFaults } from "../../runtime/sandbox/self-test.ts";
import { findSystemPython, type SystemPython } from "../../runtime/sandbox/system-python.ts";
import { CliError } from "../commands/exit-code.ts";
import type { SandboxFlag } from "./sandbox-flags.ts";

interface TestedSandbox {
  /** The operator's interpreter for Python; null: the built-in one. */
  python: SystemPython | null;
  /** Resolves after the test, for which a start does not wait. */
  level(): Promise<SandboxLevel>;
  /** Null until the test is over. */
  known(): SandboxLevel | null;
  /**
   * Starts the test after a second, unless `level` did: on a single core its processes would delay the first requests.
   */
  test(): void;
}

const testAfter_ms = 1000;

/** Tests whether the jail holds programs in this interpreter. Throws if not, because it would run them with its rights. */
export async function openPython(path: string): Promise<SystemPython> {
  const python = await findSystemPython(path).catch((error) => {
    throw new CliError(`--python ${path}: ${error instanceof Error ? error.message : error}.`);
  });
  const faults = await systemPythonFaults(python);
  if (faults.length > 0)
    throw new CliError(`--python ${path}: this system cannot hold it. A program could ${faults.join(", ")}.`);
  return python;
}

/** Tests how well this machine can isolate foreign code. Throws for `strict` if it cannot fully. */
export async function openSandbox(flag: SandboxFlag, pythonPath: string | undefined, log: Log): Promise<TestedSandbox> {
  const python = pythonPath === undefined ? null : await openPython(pythonPath);
  let known: SandboxLevel | null = flag === "off" ? "off" : null;
  let testing: Promise<SandboxLevel> | null = known && Promise.resolve(known);
  if (flag === "strict") {
    const faults = await jailFaults();
    if (faults.length > 0)
      throw new CliError(`--sandbox strict: this system cannot hold code. A program could ${faults.join(", ")}.`);
    known = "strict";
    testing = Promise.resolve(known);
  }
  const level = (): Promise<SandboxLevel> => {
    testing ??= selfTest().then((found) => {
      known = found;
      if (found !== "strict")
        log.warn("code runs without the full jail, and Python not at all", { sandbox_level: found });
      return found;
    });
    return testing;
  };
  return { python, level, known: () => known, test: () => void setTimeout(level, testAfter_ms).unref() };
}
