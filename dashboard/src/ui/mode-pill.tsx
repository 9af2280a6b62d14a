import { useWorkspace } from "../lib/workspace.ts";

/** “Test data” or “Live data”: the word beside the frame's colour. */
export function ModePill() {
  const { mode } = useWorkspace();
  return (
    <span className="inline-flex h-5 items-center rounded-full border border-mode-line bg-mode-soft px-2 text-2xs font-strong whitespace-nowrap text-mode-ink">
      {mode === "live" ? "Live data" : "Test data"}
    </span>
  );
}
