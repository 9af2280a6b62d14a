import { useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect, useMemo, useState } from "react";
import type { Session } from "../../../server/wire/console.ts";
import { readPreference, writePreference } from "../lib/preference.ts";
import type { Workspace } from "../lib/workspace.ts";
import { readPlace, writePlace } from "../lib/workspace-address.ts";

/**
 * The project and mode that the address names. Null where it names no project that this person may see. Where the
 * project that is shown goes, as when it is archived here, the page stays and shows another one.
 */
export function useSessionWorkspace(session: Session): Workspace | null {
  const { workspace: named } = useSearch({ from: "/shell" });
  const navigate = useNavigate();
  const [shown, setShown] = useState<string | null>(null);
  const { projects } = session;
  const namedId = readPlace(named)?.projectId;
  const isGone = !namedId || (namedId === shown && projects.every(({ id }) => id !== namedId));
  const workspace = isGone ? lastWorkspace(session) : named;
  const at = useMemo(() => workspaceAt(projects, workspace), [projects, workspace]);
  useEffect(() => {
    if (!at) return;
    writePreference("workspace", writePlace(at));
    if (at.projectId === namedId) setShown(namedId);
  }, [at, namedId]);
  useEffect(() => {
    if (workspace === named) return;
    void navigate({ to: ".", search: (before) => ({ ...before, workspace }), replace: true, ignoreBlocker: true });
  }, [workspace, named, navigate]);
  return at;
}

function workspaceAt(projects: Session["projects"], text: string | undefined): Workspace | null {
  const place = readPlace(text);
  const project = projects.find(({ id }) => id === place?.projectId);
  return place && project ? { project, ...place } : null;
}

/**
 * Where an address leads that names no project: to what was last looked at in this browser, else to the first project's
 * test data. Undefined without any project.
 */
export function lastWorkspace({ projects }: Session): string | undefined {
  const last = readPlace(readPreference("workspace"));
  if (last && projects.some(({ id }) => id === last.projectId)) return writePlace(last);
  return projects[0] && writePlace({ projectId: projects[0].id, mode: "test" });
}
