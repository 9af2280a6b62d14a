import { useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect, useMemo, useState } from "react";
import type { Session } from "../../../server/domain/api-types/console.ts";
import { readPreference, writePreference } from "../lib/local-storage.ts";
import type { Workspace } from "../lib/workspace.ts";
import { formatWorkspace, parseWorkspace } from "../lib/workspace-address.ts";

/**
 * Project and mode in the address; null if this person cannot access the project. If the shown project disappears, for
 * example by archiving, the page stays and shows another project.
 */
export function useSessionWorkspace(session: Session): Workspace | null {
  const { workspace: requestedWorkspace } = useSearch({ from: "/shell" });
  const navigate = useNavigate();
  const [lastShownId, setLastShownId] = useState<string | null>(null);
  const { projects } = session;
  const namedId = parseWorkspace(requestedWorkspace)?.projectId;
  const isGone = !namedId || (namedId === lastShownId && projects.every(({ id }) => id !== namedId));
  const workspace = isGone ? lastWorkspace(session) : requestedWorkspace;
  const at = useMemo(() => workspaceAt(projects, workspace), [projects, workspace]);
  useEffect(() => {
    if (!at) return;
    writePreference("workspace", formatWorkspace(at));
    if (at.projectId === namedId) setLastShownId(namedId);
  }, [at, namedId]);
  useEffect(() => {
    if (workspace === requestedWorkspace) return;
    void navigate({ to: ".", search: (before) => ({ ...before, workspace }), replace: true, ignoreBlocker: true });
  }, [workspace, requestedWorkspace, navigate]);
  return at;
}

function workspaceAt(projects: Session["projects"], text: string | undefined): Workspace | null {
  const place = parseWorkspace(text);
  const project = projects.find(({ id }) => id === place?.projectId);
  return place && project ? { project, ...place } : null;
}

/**
 * Workspace for an address without one: the last used in this browser, otherwise the first project's test mode.
 * Undefined if there is no project.
 */
export function lastWorkspace({ projects }: Session): string | undefined {
  const last = parseWorkspace(readPreference("workspace"));
  if (last && projects.some(({ id }) => id === last.projectId)) return formatWorkspace(last);
  return projects[0] && formatWorkspace({ projectId: projects[0].id, mode: "test" });
}
