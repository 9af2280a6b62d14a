import type { CodeCall } from "../../core/agent-snapshot.ts";
import type { FileFacts } from "../../core/run-event.ts";
import type { ToolCall } from "../../core/run-state.ts";
import { findInfiniteNumber, jsonFault } from "../../lib/json-limits.ts";
import { bounds } from "../../sandbox/bounds.ts";
import type { Program, ProgramFile, ProgramOutcome } from "../../sandbox/program.ts";
import type { ToolContext, ToolRunner } from "./context.ts";
import { type Done, failed } from "./outcome.ts";

/** Runs the tool's function, or the code that the model wrote, in a jailed process of its own. */
export const run: ToolRunner = async (call, tool, context, signal) => {
  const code = tool.code!;
  const place = findInfiniteNumber(call.arguments);
  if (place !== null) return failed("invalid_arguments", `${place}: no number of a program is so large.`, 0);
  const files = await inputFiles([...code.file_ids, ...context.fileIds], context);
  if ("error" in files) return files;
  const outcome = await context.sandbox.run(programOf(code, call, files), signal);
  return done(outcome, await Promise.all(outcome.files.map((file) => context.keepFile(file))));
};

/** What the program finds in its folder. Files that are too large are not even read: they would all be held at once. */
async function inputFiles(ids: Iterable<string>, { readFile }: ToolContext): Promise<ProgramFile[] | Done> {
  const files = new Map<string, ProgramFile>();
  let room: number = bounds.input;
  for (const id of new Set(ids)) {
    const file = await readFile(id, room);
    if (file === "missing") return failed("file_not_found", `The file ${id} was deleted.`, 0);
    if (file === "too_large")
      return failed("files_too_large", `The files are larger than ${bounds.input} bytes in total.`, 0);
    room -= file.bytes.length;
    // They lie in one folder, where the first one keeps its name.
    const name = files.has(file.name) ? `${id}${/\.\w{1,16}$/.exec(file.name)?.[0] ?? ""}` : file.name;
    files.set(name, { ...file, name });
  }
  return [...files.values()];
}

const programOf = (
  { language, source, timeout_ms, memory_mb }: CodeCall,
  { arguments: args }: ToolCall,
  files: ProgramFile[],
): Program => ({
  language,
  code: source ?? String(args.code),
  arguments: source === null ? null : args,
  files,
  timeout_ms,
  memory_mb,
});

/** What the model reads: the result with what was printed and made, or the error with what was printed until then. */
function done(outcome: ProgramOutcome, files: FileFacts[]): Done {
  const { result, error, duration_ms } = outcome;
  const said = {
    ...(outcome.stdout !== "" && { stdout: outcome.stdout }),
    ...(outcome.stdout_truncated && { stdout_truncated: true }),
    ...(outcome.stderr !== "" && { stderr: outcome.stderr }),
    ...(outcome.stderr_truncated && { stderr_truncated: true }),
    ...(files.length > 0 && { files: files.map(({ id, filename, bytes }) => ({ id, filename, bytes })) }),
    ...(outcome.files_dropped > 0 && { files_dropped: outcome.files_dropped }),
  };
  const output = { result, ...said, duration_ms };
  const fault = error ? null : jsonFault(output);
  if (fault) return { ...failed("invalid_response", fault), files };
  if (!error) return { output, error: null, attempts: 1, files };
  const printed = Object.keys(said).length > 0 ? `\n${JSON.stringify(said)}` : "";
  return { ...failed(error.code, `${error.message}${printed}`), files };
}
