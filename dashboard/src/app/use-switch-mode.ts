import { useLocation, useNavigate } from "@tanstack/react-router";
import { writePreference } from "../lib/preference.ts";
import type { Mode } from "../lib/types.ts";

/** Goes to the other mode's data. An id belongs to one mode, so the page of an object becomes its list. */
export function useSwitchMode(): (mode: Mode, options?: { keepPage?: boolean }) => void {
  const navigate = useNavigate();
  const { pathname } = useLocation();
  return (mode, { keepPage = false } = {}) => {
    writePreference("mode", mode);
    if (!keepPage && /\/runs\/./.test(pathname)) void navigate({ to: "/runs" });
    else if (!keepPage) void navigate({ to: ".", search: (old) => ({ ...old, after: undefined, before: undefined }) });
  };
}
