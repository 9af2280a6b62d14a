import type { Static } from "@sinclair/typebox";
import { about, closedObject, named, oneOf, optional, orNull } from "../lib/schema.ts";
import { byteLength } from "./byte-length.ts";
import { Count, Hash, Id, many, Short } from "./fields.ts";

/** Programs that share a folder: those of one run, or of all runs of a thread. */
export const workspaceOwners = ["run", "thread"] as const;
export type WorkspaceOwner = (typeof workspaceOwners)[number];

/** Settings of a code tool; `none`: its programs share nothing. */
export const workspaceChoices = [...workspaceOwners, "none"] as const;
export type WorkspaceChoice = (typeof workspaceChoices)[number];

/** Path of the folder in Python. */
export const workspaceFolder = "/workspace";

export const workspaceLimits = {
  files: 500,
  /** Of all files together. */
  bytes: 32 * 2 ** 20,
  path_bytes: 512,
  /** Nesting of folders. */
  folders: 16,
  /** Saved variables of Python. */
  variables_bytes: 16 * 2 ** 20,
  /** Lost variables that are named. */
  lost_names: 20,
  /** Inputs that are put into the folder: those of all tools. */
  given: 1000,
} as const;

const content = {
  bytes: about("Its length in bytes.", Count),
  sha256: about("SHA-256 of the content.", Hash),
};
const Path = about("The path in the folder.", Short);

export const WorkspaceFile = named("WorkspaceFile", closedObject({ path: Path, ...content }));
export type WorkspaceFile = Static<typeof WorkspaceFile>;

/** A content of the store. */
const Content = closedObject(content);
export type Content = Static<typeof Content>;

const filesOf = many(WorkspaceFile, workspaceLimits.files);
const Variables = about("The variables of Python that were saved; null if none were.", orNull(Content));

/** Folder and variables that programs share. */
const Workspace = closedObject({
  /** In the order of their paths. */
  files: filesOf,
  /** Ids of the input files that were put into the folder: a program may have changed or removed them since. */
  given: many(Id, workspaceLimits.given),
  variables: Variables,
});
export type Workspace = Static<typeof Workspace>;

export const emptyWorkspace: Workspace = { files: [], given: [], variables: null };

/** Changes of a workspace by one program, with its inputs: enough to rebuild the folder from the contents. */
export const WorkspaceChange = named(
  "WorkspaceChange",
  closedObject({
    shared_by: about(
      "Whether the programs of the run or those of its thread share the folder.",
      oneOf(workspaceOwners),
    ),
    /** The whole workspace before it; absent if it was as the run's earlier programs left it. */
    start: optional(Workspace),
    given: about(
      "Input files that were put into the folder before the program.",
      optional(many(closedObject({ file_id: Id, path: Path, ...content }), workspaceLimits.files)),
    ),
    changed: about("Files that the program wrote.", filesOf),
    removed: about("Paths of files that are gone since.", many(Path, 2 * workspaceLimits.files)),
    dropped: about("How many files were not kept; absent if all were.", optional(Count)),
    /** Absent: they are unchanged. */
    variables: optional(Variables),
    variables_lost: about("Names of variables that were not kept.", optional(many(Short, workspaceLimits.lost_names))),
  }),
);
export type WorkspaceChange = Static<typeof WorkspaceChange>;

/** Returns the workspace before the program, with the input files that it was given. */
export function workspaceAtStart(before: Workspace, { start = before, given = [] }: WorkspaceChange): Workspace {
  if (given.length === 0) return start;
  const files = given.map(({ path, bytes, sha256 }) => ({ path, bytes, sha256 }));
  return {
    ...start,
    files: withFiles(start.files, files),
    given: [...new Set([...start.given, ...given.map(({ file_id }) => file_id)])],
  };
}

/** Returns the workspace after the program. */
export function workspaceAfter(before: Workspace, change: WorkspaceChange): Workspace {
  const start = workspaceAtStart(before, change);
  const removed = new Set(change.removed);
  const files = withFiles(
    start.files.filter(({ path }) => !removed.has(path)),
    change.changed,
  );
  return { ...start, files, variables: change.variables === undefined ? start.variables : change.variables };
}

/** Replaces files, and sorts by path, so that equal folders are equal lists. */
function withFiles(files: readonly WorkspaceFile[], changed: readonly WorkspaceFile[]): WorkspaceFile[] {
  const byPath = new Map([...files, ...changed].map((file) => [file.path, file]));
  return [...byPath.values()].sort((a, b) => comparePaths(a.path, b.path));
}

/** Orders paths by their code units, the same on every system. */
export const comparePaths = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Returns all contents of a workspace: those of its files, and its variables. */
export const contentsOf = ({ files, variables }: Workspace): string[] => [
  ...new Set([...files, ...(variables ? [variables] : [])].map(({ sha256 }) => sha256)),
];

/** Returns why a file with this path cannot be kept, as the rest of a sentence about it; null if it can. */
export function workspacePathFault(path: string): string | null {
  if (path === "" || path.startsWith("/")) return "is not a path in the folder";
  // The interpreter puts U+FFFD in place of bytes that are not UTF-8: two such names could be the same.
  if (!path.isWellFormed() || path.includes("\ufffd")) return "has a name that is not valid Unicode";
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are refused.
  if (/[\\\u0000-\u001f\u007f]/.test(path)) return "has a backslash or a control character in its name";
  if (byteLength(path) > workspaceLimits.path_bytes)
    return `has a path of more than ${workspaceLimits.path_bytes} bytes`;
  const parts = path.split("/");
  if (parts.length > workspaceLimits.folders + 1) return `is in more than ${workspaceLimits.folders} folders`;
  if (parts.some((part) => part === "" || part === "." || part === "..")) return "is not a path in the folder";
  return parts.some((part) => byteLength(part) > 255) ? "has a name of more than 255 bytes" : null;
}
