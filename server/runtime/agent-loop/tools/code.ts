import type { CodeCall, CodeTool } from "../../../domain/agent-snapshot.ts";
import type { ToolCall } from "../../../domain/run-state.ts";
import { findInfiniteNumber, jsonFault } from "../../../lib/json-limits.ts";
import { bounds } from "../../sandbox/bounds.ts";
import type { Program } from "../../sandbox/program.ts";
import { type InputFile, runInWorkspace, type SharedOutcome } from "./code-workspace.ts";
import type { ToolContext, ToolRunner } from "./context.ts";
import { filesOfSkills } from "./skill-folders.ts";
import { type ToolResult, toolError } from "./tool-result.ts";

/** Runs the tool's function, or the code that the model wrote, in a sandboxed process of its own. */
export const run: ToolRunner<CodeTool> = async (call, { code }, context, signal) => {
  const place = findInfiniteNumber(call.arguments);
  if (place !== null) return toolError("invalid_arguments", `${place}: no number of a program is so large.`, 0);
  const files = await inputFiles([...code.file_ids, ...context.fileIds], context);
  if ("error" in files) return files;
  const room = files.reduce((left, { bytes }) => left - bytes.length, bounds.input as number);
  const mounted = await filesOfSkills(context, room);
  if ("error" in mounted) return mounted;
  const program = { ...programOf(code, call, files), mounted };
  const { workspaces } = context;
  if (workspaces && code.workspace !== undefined && code.workspace !== "none")
    return done(await runInWorkspace(program, files, code, { ...context, workspaces }, signal));
  const outcome = await context.sandbox.run(program, signal);
  return done({ outcome, files: await Promise.all(outcome.files.map((file) => context.keepFile(file))), notes: [] });
};

/** Reads the program's input files. Files that are too large are not read, because all are held in memory at once. */
async function inputFiles(ids: Iterable<string>, { readFile }: ToolContext): Promise<InputFile[] | ToolResult> {
  const files = new Map<string, InputFile>();
  let room: number = bounds.input;
  for (const id of new Set(ids)) {
    const file = await readFile(id, room);
    if (file === "missing") return toolError("file_not_found", `The file ${id} was deleted.`, 0);
    if (file === "too_large")
      return toolError("files_too_large", `The files are larger than ${bounds.input} bytes in total.`, 0);
    room -= file.bytes.length;
    // All files are in one folder, where the first one keeps its name.
    const name = files.has(file.name) ? `${id}${/\.\w{1,16}$/.exec(file.name)?.[0] ?? ""}` : file.name;
    files.set(name, { ...file, name, id });
  }
  return [...files.values()];
}

const programOf = (
  { language, source, timeout_ms, memory_mb }: CodeCall,
  { arguments: args }: ToolCall,
  files: InputFile[],
): Program => ({
  language,
  code: source ?? String(args.code),
  arguments: source === null ? null : args,
  files,
  timeout_ms,
  memory_mb,
});

/** Returns the result with its output and files, or the error with the output so far. */
function done({ outcome, files, workspace, notes }: SharedOutcome): ToolResult {
  const { result, error, duration_ms } = outcome;
  const kept = { files, ...(workspace && { workspace }) };
  const programOutput = {
    ...(outcome.stdout !== "" && { stdout: outcome.stdout }),
    ...(outcome.stdout_truncated && { stdout_truncated: true }),
    ...(outcome.stderr !== "" && { stderr: outcome.stderr }),
    ...(outcome.stderr_truncated && { stderr_truncated: true }),
    ...(files.length > 0 && { files: files.map(({ id, filename, bytes }) => ({ id, filename, bytes })) }),
    ...(outcome.files_dropped > 0 && { files_dropped: outcome.files_dropped }),
    ...(notes.length > 0 && { notes }),
  };
  const output = { result, ...programOutput, duration_ms };
  const fault = error ? null : jsonFault(output);
  if (fault) return { ...toolError("invalid_response", fault), ...kept };
  if (!error) return { output, error: null, attempts: 1, ...kept };
  const printed = Object.keys(programOutput).length > 0 ? `\n${JSON.stringify(programOutput)}` : "";
  return { ...toolError(error.code, `${error.message}${printed}`), ...kept };
}
