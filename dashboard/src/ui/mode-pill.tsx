import { useWorkspace } from "../lib/workspace.ts";

/**
 * “Test data” or “Live data”: the word beside the shell's colour. Not beside the name of a thing on a phone, where room
 * is short and the switch above always says it.
 */
export function ModePill() {
  const { mode } = useWorkspace();
  return (
    <span className="inline-flex h-5 items-center rounded-full border border-mode-line bg-mode-soft px-2 text-2xs font-strong whitespace-nowrap text-mode-ink max-rail:[nav~&]:hidden max-rail:[nav~*_&]:hidden">
      {mode === "live" ? "Live data" : "Test data"}
    </span>
  );
}
