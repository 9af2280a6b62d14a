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
  /** Inputs that are known to have been put into the folder: the newest ones. */
  given: 1000,
} as const;
