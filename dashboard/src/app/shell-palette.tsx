import { Palette } from "../features/palette/palette.tsx";
import type { Project } from "../lib/workspace.ts";
import { useCommands } from "./use-commands.ts";

/** The palette with what the shell offers. */
export function ShellPalette({
  projects,
  open,
  onOpenChange,
}: {
  projects: readonly Project[];
  open: boolean;
  onOpenChange: (open: boolean) => void;
}) {
  return <Palette open={open} onOpenChange={onOpenChange} {...useCommands(projects)} />;
}
