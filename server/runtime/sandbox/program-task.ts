import { workspaceLimits } from "../../domain/workspace-limits.ts";
import { bounds, packageVariables_ms, variables_ms } from "./bounds.ts";
import { childLanguageOf } from "./child-language.ts";
import type { Program, ProgramError, ProgramOutcome } from "./program.ts";
import { encodeProgram } from "./program-message.ts";
import { createResultCollector } from "./program-result.ts";
import { startLimit_ms, type Task } from "./task.ts";

/** The limits of a program's outputs, plus room for packet heads. */
const said_max = bounds.output + bounds.result + 8 * 2 * bounds.printed + 2 ** 20;
const codes = {
  late: "code_timeout",
  memory: "code_out_of_memory",
  failed: "sandbox_failed",
  ended: "sandbox_failed",
} as const;
/** A program can end its interpreter where that is the whole process. */
const nativeCodes = { ...codes, ended: "code_error" } as const;

/** The same of a shared folder. */
const shared_max = workspaceLimits.bytes + workspaceLimits.variables_bytes + 2 ** 21;

/** Returns the task of running a program. `native`: in an interpreter that is a process, with all its code. */
export function programTask(program: Program, native = false): Task<ProgramOutcome> {
  const { timeout_ms, memory_mb, shared } = program;
  const collector = createResultCollector(shared);
  const hasPackages = !native && childLanguageOf(program) === "data-python";
  // Limits for restoring the variables, and for saving them, from outside of the interpreter.
  const session_ms = native || hasPackages ? 4 * packageVariables_ms : 2 * variables_ms;
  return {
    timeout_ms,
    // Imports of large packages compute for seconds, which take much longer on a busy machine.
    timed_by: hasPackages ? "processor" : "clock",
    ...(shared?.saves_variables && { start_ms: startLimit_ms + session_ms, save_ms: session_ms }),
    memory_mb,
    late_message: `The program was ended after ${timeout_ms} ms.`,
    memory_message: `The program needed more than its ${memory_mb} MB of memory.`,
    output_max_bytes: said_max + (shared ? shared_max : 0),
    order: encodeProgram(program),
    content: [],
    content_bytes: 0,
    onPacket: collector.receive,
    isComplete: collector.isComplete,
    outcome(why, duration_ms) {
      const error: ProgramError | null = why && {
        code: (native ? nativeCodes : codes)[why.kind],
        message: why.message,
      };
      const outcome = collector.outcome(error, duration_ms);
      return why?.unstarted ? { ...outcome, unstarted: true } : outcome;
    },
  };
}
