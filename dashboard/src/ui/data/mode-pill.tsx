import { useWorkspace } from "../../lib/workspace.ts";

/**
 * Label “Test data” or “Live data”, in addition to the shell's colour. Omitted beside an object's name on a phone: the
 * switch above shows it.
 */
export function ModePill() {
  const { mode } = useWorkspace();
  return (
    <span className="inline-flex h-5 items-center rounded-full border border-mode-line bg-mode-soft px-2 text-2xs font-strong whitespace-nowrap text-mode-ink max-rail:[nav~&]:hidden max-rail:[nav~*_&]:hidden">
      {mode === "live" ? "Live data" : "Test data"}
    </span>
  );
}
