import { AppError, type Fault } from "../core/errors.ts";
import { fault } from "../http/errors.ts";
import type { Known } from "./check.ts";
import { codeBounds, isWithin, sourceBytes_max } from "./code-bounds.ts";
import type { Definition } from "./definition.ts";
import type { UpdateTool } from "./schema.ts";

/** What is wrong with a code tool. Its syntax is told by its first call: only the sandbox reads strangers' code. */
export function codeFaults(input: UpdateTool, before: Definition | null, known: Known): Fault[] {
  const language = input.language ?? before?.code?.language ?? "javascript";
  const source = input.source === undefined ? (before?.code?.source ?? null) : input.source;
  const faults = levelFaults(input, before === null, language, known);
  if (input.source != null && input.source.trim() === "")
    faults.push(fault("source", "Expected more than blanks. Without a source (null), the model writes the code."));
  if (input.source != null && Buffer.byteLength(input.source) > sourceBytes_max)
    faults.push(fault("source", `Expected at most ${sourceBytes_max} bytes.`));
  const translated = before?.code && language !== before.code.language && input.source === undefined;
  if (translated && source !== null)
    faults.push(fault("source", "With another language, the source is given again.", "required"));
  if (input.parameters && source === null)
    faults.push(fault("parameters", "Without a source the model writes the code: the one parameter is code."));
  for (const name of ["timeout_ms", "memory_mb"] as const) {
    const bounds = codeBounds[language][name];
    if (input[name] !== undefined && !isWithin(bounds, input[name]))
      faults.push(fault(name, `Expected ${bounds.least} to ${bounds.most} for ${language}.`));
  }
  return [...faults, ...fileFaults(input.files ?? [], known)];
}

/** Asked only where it is about running something: descriptions can be changed everywhere. */
function levelFaults(input: UpdateTool, isNew: boolean, language: string, { sandboxLevel: level }: Known): Fault[] {
  if (!isNew && input.language === undefined && input.source == null) return [];
  const param = input.language === undefined ? "type" : "language";
  if (level === "off") return [fault(param, "No code runs on this server: its sandbox is off.")];
  if (language !== "python" || level === "strict") return [];
  const message = `Python runs only where the system enforces the sandbox; on this server its level is ${level}.`;
  return [fault("language", message)];
}

function fileFaults(ids: readonly string[], known: Known): Fault[] {
  try {
    const files = known.files(ids);
    // They lie in one folder: the program would see one of two, and nobody knows which.
    return files.flatMap(({ filename }, i) =>
      files.findIndex((file) => file.filename === filename) === i
        ? []
        : [fault(`files[${i}]`, `Another file of the tool has the name ${JSON.stringify(filename)} too.`)],
    );
  } catch (error) {
    if (error instanceof AppError && error.errors) return error.errors;
    throw error;
  }
}
