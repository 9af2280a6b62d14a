import { useMemo, useSyncExternalStore } from "react";
import { readPreference, subscribePreferences } from "../lib/preference.ts";
import type { Mode, Session } from "../lib/types.ts";
import type { Workspace } from "../lib/workspace.ts";

/** The project and mode of this tab: what was last chosen in it, or else in any tab. Null without any project. */
export function useSessionWorkspace(session: Session): Workspace | null {
  const mode: Mode = useTabPreference("mode") === "live" ? "live" : "test";
  const wanted = useTabPreference("project");
  const project = session.projects.find(({ id }) => id === wanted) ?? session.projects[0];
  return useMemo(() => (project ? { project, projectId: project.id, mode } : null), [project, mode]);
}

/** Two tabs may look at two modes, so the tab's own choice comes first. */
function useTabPreference(key: string): string | null {
  return useSyncExternalStore(subscribePreferences, () => readPreference(key, "sessionStorage") ?? readPreference(key));
}
