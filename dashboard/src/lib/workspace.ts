import { createContext, useContext } from "react";
import type { Environment as Mode } from "../../../server/core/scope.ts";

/** Where the reader is: one project, in test or live. All resource addresses are made of it. */
export interface Workspace {
  project: Project;
  projectId: string;
  mode: Mode;
}

export const WorkspaceContext = createContext<Workspace | null>(null);

/** The project and mode of the page. Only inside the frame. */
export function useWorkspace(): Workspace {
  const workspace = useContext(WorkspaceContext);
  if (!workspace) throw new Error("useWorkspace outside the frame");
  return workspace;
}

export interface Project {
  id: string;
  name: string;
}
