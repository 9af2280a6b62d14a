import { useNavigate, useRouter } from "@tanstack/react-router";
import type { Environment as Mode } from "../../../server/core/scope.ts";
import { writePreference } from "../lib/preference.ts";
import { mayLeave } from "../lib/use-unsaved.ts";
import { withoutIds } from "./without-ids.ts";

/** Goes to the other mode's data. Asks first where an unsaved form of an object, or of one to be made, would go with it. */
export function useSwitchMode(): (mode: Mode, options?: { keepPage?: boolean }) => Promise<void> {
  const leaveObject = useLeaveObject();
  const router = useRouter();
  return async (mode, { keepPage = false } = {}) => {
    const path = router.state.matches.at(-1)?.fullPath ?? "";
    const leavesForm = !keepPage && (listOf(path) !== null || path.endsWith("/new"));
    if (leavesForm && !(await mayLeave())) return;
    writePreference("mode", mode);
    if (!keepPage) leaveObject();
  };
}

/** Goes to another project, and asks first where a form is not saved: it is this one's. */
export function useChooseProject(): (id: string) => Promise<void> {
  const leaveObject = useLeaveObject();
  return async (id) => {
    if (!(await mayLeave())) return;
    writePreference("project", id);
    leaveObject();
  };
}

/**
 * An id belongs to one project and mode: the page of an object becomes its list, and filters by an id are dropped. What
 * is not saved was asked about already.
 */
function useLeaveObject(): () => void {
  const navigate = useNavigate();
  const router = useRouter();
  return () => {
    const list = listOf(router.state.matches.at(-1)?.fullPath);
    if (list) void navigate({ to: list as "/runs", ignoreBlocker: true });
    else void navigate({ to: ".", search: (before: object) => withoutIds(before), ignoreBlocker: true });
  };
}

/** The list that the page of an object belongs to; only `$` makes a page one of an object. Null for other pages. */
function listOf(fullPath = ""): string | null {
  const [list = "", id] = fullPath.split("/$");
  return id === undefined ? null : list;
}
