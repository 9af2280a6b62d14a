import { useNavigate, useRouter } from "@tanstack/react-router";
import { writePreference } from "../lib/preference.ts";
import type { Mode } from "../lib/types.ts";
import { withoutIds } from "./fns/without-ids.ts";

/** Goes to the other mode's data. */
export function useSwitchMode(): (mode: Mode, options?: { keepPage?: boolean }) => void {
  const leaveObject = useLeaveObject();
  return (mode, { keepPage = false } = {}) => {
    writePreference("mode", mode);
    if (!keepPage) leaveObject();
  };
}

/** An id belongs to one project and mode: the page of an object becomes its list, and filters by an id are dropped. */
export function useLeaveObject(): () => void {
  const navigate = useNavigate();
  const router = useRouter();
  return () => {
    const match = router.state.matches.at(-1);
    const list = match?.fullPath.split("/$")[0];
    // Only `$` makes it another page; the list of every object stands before it.
    if (list && list !== match?.fullPath) void navigate({ to: list as "/runs" });
    else void navigate({ to: ".", search: (before: object) => withoutIds(before) });
  };
}
