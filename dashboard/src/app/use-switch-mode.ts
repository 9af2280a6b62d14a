import { useNavigate, useRouter } from "@tanstack/react-router";
import { useContext } from "react";
import type { Environment as Mode } from "../../../server/domain/scope.ts";
import { mayLeave } from "../hooks/use-unsaved.ts";
import { useWorkspace, WorkspaceContext } from "../lib/workspace.ts";
import { formatWorkspace, type WorkspaceAddress, type WorkspaceSearch } from "../lib/workspace-address.ts";
import { withoutIds } from "./without-ids.ts";

/** Switches the mode. Asks first if an unsaved form would be lost. */
export function useSwitchMode(): (mode: Mode, options?: { keepPage?: boolean }) => Promise<void> {
  const { projectId } = useWorkspace();
  const go = useGo();
  const router = useRouter();
  return async (mode, { keepPage = false } = {}) => {
    const path = router.state.matches.at(-1)?.fullPath ?? "";
    const leavesForm = !keepPage && (listOf(path) !== null || path.endsWith("/new"));
    if (leavesForm && !(await mayLeave())) return;
    go({ projectId, mode }, keepPage);
  };
}

/** Switches the project. Asks first if a form is unsaved, because it belongs to this project. */
export function useChooseProject(): (id: string) => Promise<void> {
  const mode = useContext(WorkspaceContext)?.mode ?? "test";
  const go = useGo();
  return async (projectId) => {
    if (await mayLeave()) go({ projectId, mode });
  };
}

/**
 * Navigates to another workspace. Ids belong to one workspace, so an object's page becomes its list and filters by id
 * are dropped, unless `keepPage`. Unsaved input must have been confirmed before.
 */
function useGo(): (place: WorkspaceAddress, keepPage?: boolean) => void {
  const navigate = useNavigate();
  const router = useRouter();
  return (place, keepPage = false) => {
    const workspace = formatWorkspace(place);
    const list = keepPage ? null : listOf(router.state.matches.at(-1)?.fullPath);
    const search = (before: WorkspaceSearch) => ({ ...(keepPage ? before : withoutIds(before)), workspace });
    if (list) void navigate({ to: list as "/runs", search: { workspace }, ignoreBlocker: true });
    else void navigate({ to: ".", search, ignoreBlocker: true });
  };
}

/** Returns the list path of an object's route (one with `$`); null for other routes. */
function listOf(fullPath = ""): string | null {
  const [list = "", id] = fullPath.split("/$");
  return id === undefined ? null : list || "/overview";
}
