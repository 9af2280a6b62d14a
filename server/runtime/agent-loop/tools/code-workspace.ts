import type { CodeCall } from "../../../domain/agent-snapshot.ts";
import type { FileFacts } from "../../../domain/run-event.ts";
import { emptyWorkspace, isInTheWay, workspaceAtStart, workspacePathFault } from "../../../domain/workspace.ts";
import { type WorkspaceOwner, workspaceLimits } from "../../../domain/workspace-limits.ts";
import type { Content, Workspace, WorkspaceChange } from "../../../domain/workspace-schema.ts";
import { failpoint } from "../../../lib/failpoint.ts";
import { sha256 } from "../../../lib/hash.ts";
import { bounds } from "../../sandbox/bounds.ts";
import type { FolderChanges, Program, ProgramFile, ProgramOutcome, SharedFile } from "../../sandbox/program.ts";
import type { ToolContext, Workspaces } from "./context.ts";

/** An input file of a program, with its id. */
export interface InputFile extends ProgramFile {
  id: string;
}

/** Outcome of a program in a workspace; the files of the outcome are those that the folder has new. */
export interface SharedOutcome {
  outcome: ProgramOutcome;
  files: FileFacts[];
  workspace?: WorkspaceChange;
  /** Sentences for the model about what it would miss without a word. */
  notes: string[];
}

/**
 * Runs a program in the workspace of its run or thread, after the programs that began before it there. The folder is
 * rebuilt for each program from what is stored, so that a restart of the server changes nothing.
 */
export async function runInWorkspace(
  program: Program,
  inputs: readonly InputFile[],
  { language, source, workspace }: Pick<CodeCall, "language" | "source" | "workspace">,
  context: ToolContext & { workspaces: Workspaces },
  signal: AbortSignal,
): Promise<SharedOutcome> {
  const { workspaces, recorded } = context;
  await workspaces.turn(workspace === "thread" ? "thread" : "run", recorded);
  const { owner, before, start } = await find(workspace === "thread", context);
  const { given, left: leftOut } = givenFiles(before, inputs);
  const started = workspaceAtStart(before, { shared_by: owner, given, changed: [], removed: [] });
  // Functions with a source get all they need as arguments.
  const saves_variables = language === "python" && source === null;
  const { files, gone } = await readFiles(started, inputs, workspaces);
  const saved = saves_variables && started.variables ? await workspaces.read(started.variables) : null;
  const notes = gone.length === 0 ? [] : [goneNote(gone)];
  if (leftOut > 0) notes.push(`${leftOut} input files do not fit into the workspace: they are only readable as input.`);
  if (saves_variables && started.variables && !saved) notes.push(lostNote);

  const shared = { files, saves_variables, variables: saved };
  let outcome = await context.sandbox.run({ ...program, shared }, signal);
  if (outcome.unstarted && saved) {
    // Variables of an earlier program may keep the interpreter from starting.
    notes.push(lostNote);
    outcome = await context.sandbox.run({ ...program, shared: { ...shared, variables: null } }, signal);
  }
  if (!outcome.shared) {
    if (outcome.error) notes.push("The workspace is as it was before this program.");
    return { outcome, files: [], notes };
  }
  const { artefacts, left, changed } = await keepFiles(outcome.shared.changed, started, context);
  const variables = await keepVariables(outcome.shared, workspaces);
  const lost = outcome.shared.lost;
  if (lost.length > 0) notes.push(`These variables are not left for the next program: ${lost.join(", ")}.`);
  const change: WorkspaceChange = {
    shared_by: owner,
    ...(start && { start }),
    ...(given.length > 0 && { given }),
    changed,
    removed: [...new Set([...outcome.shared.removed, ...gone])],
    ...(outcome.shared.dropped > 0 && { dropped: outcome.shared.dropped }),
    ...(variables !== undefined && { variables }),
    ...(lost.length > 0 && { variables_lost: lost }),
  };
  if (left > 0)
    notes.push(`${left} more files are in the workspace only: a call returns ${bounds.files} files at most.`);
  return {
    outcome: { ...outcome, files_dropped: outcome.shared.dropped },
    files: artefacts,
    workspace: change,
    notes: [...notes, ...outcome.shared.notes],
  };
}

const lostNote = "The variables of the earlier programs are lost; their files are there.";

function goneNote(paths: readonly string[]): string {
  const named = paths.slice(0, 5).join(", ");
  return `${paths.length} files of the workspace are gone: ${named}${paths.length > 5 ? " and others" : ""}.`;
}

/** Returns the workspace, and the same as `start` if the run's journal does not have it yet. A run has a thread or not. */
async function find(
  ofThread: boolean,
  { workspaces, ask }: ToolContext & { workspaces: Workspaces },
): Promise<{ owner: WorkspaceOwner; before: Workspace; start?: Workspace }> {
  const thread = ofThread ? await ask("thread_workspace", {}) : null;
  if (thread === null) return { owner: "run", before: workspaces.current("run") ?? emptyWorkspace };
  const known = workspaces.current("thread") ?? emptyWorkspace;
  const isKnown = Bun.deepEquals(known, thread);
  return { owner: "thread", before: thread, ...(!isKnown && { start: thread }) };
}

/** Returns the input files that the folder was never given, and the number of those that do not fit. */
function givenFiles(before: Workspace, inputs: readonly InputFile[]) {
  const known = new Set(before.given);
  const paths = new Set(before.files.map(({ path }) => path));
  let room = workspaceLimits.bytes - before.files.reduce((sum, { bytes }) => sum + bytes, 0);
  const given: NonNullable<WorkspaceChange["given"]> = [];
  let left = 0;
  for (const { id, name, bytes } of inputs) {
    if (known.has(id)) continue;
    const isFull = bytes.length > room || (!paths.has(name) && paths.size >= workspaceLimits.files);
    if (isFull || workspacePathFault(name) !== null || isInTheWay(name, paths)) {
      left++;
      continue;
    }
    room -= bytes.length;
    paths.add(name);
    given.push({ file_id: id, path: name, bytes: bytes.length, sha256: sha256(bytes) });
  }
  return { given, left };
}

/** Reads the files of the folder; those of the inputs are there already. `gone` are the paths of those that are not. */
async function readFiles({ files }: Workspace, inputs: readonly InputFile[], { read }: Workspaces) {
  const known = new Map(inputs.map(({ bytes }) => [sha256(bytes), bytes]));
  const found: SharedFile[] = [];
  const gone: string[] = [];
  let [room, paths]: [number, Set<string>] = [workspaceLimits.bytes, new Set()];
  for (const { path, bytes: size, sha256 } of files) {
    // A journal that was imported may name anything, and runs of one thread at a time may add up to too much.
    const isPlace =
      workspacePathFault(path) === null &&
      size <= room &&
      paths.size < workspaceLimits.files &&
      !isInTheWay(path, paths);
    if (isPlace) [room, paths] = [room - size, paths.add(path)];
    const bytes = isPlace ? (known.get(sha256) ?? (await read({ sha256, bytes: size }))) : null;
    if (bytes) found.push({ name: path, bytes, sha256 });
    else gone.push(path);
  }
  return { files: found, gone };
}

/** Stores the files that the program changed. The first of them are artefacts, within the limits of every call. */
async function keepFiles(
  files: readonly ProgramFile[],
  started: Workspace,
  { keepFile, workspaces }: Pick<ToolContext, "keepFile"> & { workspaces: Workspaces },
): Promise<{ artefacts: FileFacts[]; left: number; changed: WorkspaceChange["changed"] }> {
  const before = new Map(started.files.map((file) => [file.path, file.sha256]));
  const hashed = files.map(({ name, bytes }) => ({ name, bytes, size: bytes.length, sha256: sha256(bytes) }));
  const news = hashed.filter(({ name, sha256 }) => before.get(name) !== sha256);
  const artefacts: FileFacts[] = [];
  let room: number = bounds.output;
  for (const { name, bytes, size, sha256 } of news) {
    if (artefacts.length < bounds.files && size <= room) {
      room -= size;
      artefacts.push(await keepFile({ name: name.slice(name.lastIndexOf("/") + 1), bytes }));
    } else await workspaces.keep(sha256, bytes);
    failpoint?.("after_file");
  }
  return {
    artefacts,
    left: news.length - artefacts.length,
    changed: news.map(({ name, size, sha256 }) => ({ path: name, bytes: size, sha256 })),
  };
}

/** Stores the variables. Undefined: the program saved none, and those of earlier programs stay. */
async function keepVariables({ variables }: FolderChanges, { keep }: Workspaces): Promise<Content | null | undefined> {
  if (!variables) return variables;
  const content = { bytes: variables.length, sha256: sha256(variables) };
  await keep(content.sha256, variables);
  failpoint?.("after_file");
  return content;
}
