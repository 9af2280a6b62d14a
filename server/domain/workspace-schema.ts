import type { Static } from "@sinclair/typebox";
import { about, closedObject, named, oneOf, optional, orNull } from "../lib/schema.ts";
import { Count, Hash, Id, many, Short } from "./fields.ts";
import { workspaceLimits, workspaceOwners } from "./workspace-limits.ts";

const content = {
  bytes: about("Its length in bytes.", Count),
  sha256: about("SHA-256 of the content.", Hash),
};
const Path = about("Where the file is in `/workspace`, such as `data/sales.csv`.", Short);

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
      optional(
        many(
          closedObject({ file_id: about("Id of the run's file: `file_…`.", Id), path: Path, ...content }),
          workspaceLimits.files,
        ),
      ),
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
