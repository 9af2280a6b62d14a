import { byteLength } from "./byte-length.ts";
import { workspaceLimits } from "./workspace-limits.ts";
import type { Workspace, WorkspaceChange, WorkspaceFile } from "./workspace-schema.ts";

export const emptyWorkspace: Workspace = { files: [], given: [], variables: null };

/** Returns the workspace before the program, with the input files that it was given. */
export function workspaceAtStart(before: Workspace, { start = before, given = [] }: WorkspaceChange): Workspace {
  if (given.length === 0) return start;
  const files = given.map(({ path, bytes, sha256 }) => ({ path, bytes, sha256 }));
  return {
    ...start,
    files: withFiles(start.files, files),
    given: [...new Set([...start.given, ...given.map(({ file_id }) => file_id)])].slice(-workspaceLimits.given),
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

/** True if a file with this path cannot be beside the others, because one of them would be both a file and a folder. */
export function isInTheWay(path: string, others: ReadonlySet<string>): boolean {
  for (let end = path.indexOf("/"); end !== -1; end = path.indexOf("/", end + 1))
    if (others.has(path.slice(0, end))) return true;
  for (const other of others) if (other.startsWith(`${path}/`)) return true;
  return false;
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
