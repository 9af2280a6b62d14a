import { useNavigate, useRouter } from "@tanstack/react-router";
import { useContext } from "react";
import type { Environment as Mode } from "../../../server/core/scope.ts";
import { mayLeave } from "../lib/use-unsaved.ts";
import { useWorkspace, WorkspaceContext } from "../lib/workspace.ts";
import { type Place, type WorkspaceSearch, writePlace } from "../lib/workspace-address.ts";
import { withoutIds } from "./without-ids.ts";

/** Goes to the other mode's data. Asks first where an unsaved form of an object, or of one to be made, would go with it. */
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

/** Goes to another project, and needs approval where a form is not saved: it is this one's. */
export function useChooseProject(): (id: string) => Promise<void> {
  const mode = useContext(WorkspaceContext)?.mode ?? "test";
  const go = useGo();
  return async (projectId) => {
    if (await mayLeave()) go({ projectId, mode });
  };
}

/**
 * An id belongs to one project and mode: the page of an object becomes its list, and filters by an id are dropped, unless
 * the page is kept. What is not saved was asked about already.
 */
function useGo(): (place: Place, keepPage?: boolean) => void {
  const navigate = useNavigate();
  const router = useRouter();
  return (place, keepPage = false) => {
    const workspace = writePlace(place);
    const list = keepPage ? null : listOf(router.state.matches.at(-1)?.fullPath);
    const search = (before: WorkspaceSearch) => ({ ...(keepPage ? before : withoutIds(before)), workspace });
    if (list) void navigate({ to: list as "/runs", search: { workspace }, ignoreBlocker: true });
    else void navigate({ to: ".", search, ignoreBlocker: true });
  };
}

/** The list that the page of an object belongs to; only `$` makes a page one of an object. Null for other pages. */
function listOf(fullPath = ""): string | null {
  const [list = "", id] = fullPath.split("/$");
  return id === undefined ? null : list || "/overview";
}
