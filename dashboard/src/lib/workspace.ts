import { createContext, useContext } from "react";
import type { Environment as Mode } from "../../../server/domain/scope.ts";

/** The current project and mode, which are part of all resource addresses. */
export interface Workspace {
  project: Project;
  projectId: string;
  mode: Mode;
}

export const WorkspaceContext = createContext<Workspace | null>(null);

/** Returns the current workspace. Throws outside of the shell. */
export function useWorkspace(): Workspace {
  const workspace = useContext(WorkspaceContext);
  if (!workspace) throw new Error("useWorkspace outside the frame");
  return workspace;
}

export interface Project {
  id: string;
  name: string;
}
