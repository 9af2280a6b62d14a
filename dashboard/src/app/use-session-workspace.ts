import { useEffect, useMemo, useSyncExternalStore } from "react";
import type { Environment as Mode } from "../../../server/core/scope.ts";
import type { Session } from "../../../server/wire/console.ts";
import { keepForTab, readPreference, subscribePreferences } from "../lib/preference.ts";
import type { Workspace } from "../lib/workspace.ts";

/** The project and mode of this tab, which began with what was last chosen in any. Null without any project. */
export function useSessionWorkspace(session: Session): Workspace | null {
  const mode: Mode = useTabPreference("mode") === "live" ? "live" : "test";
  const wanted = useTabPreference("project");
  const project = session.projects.find(({ id }) => id === wanted) ?? session.projects[0];
  // A tab in which none was chosen stays in the one that it shows, whatever projects come before it later.
  useEffect(() => {
    if (project && project.id !== wanted) keepForTab("project", project.id);
  }, [project, wanted]);
  return useMemo(() => (project ? { project, projectId: project.id, mode } : null), [project, mode]);
}

/** Two tabs may look at two modes: what another one chose is for tabs that are opened later (see boot.js). */
function useTabPreference(key: string): string | null {
  return useSyncExternalStore(subscribePreferences, () => readPreference(key, "sessionStorage"));
}
