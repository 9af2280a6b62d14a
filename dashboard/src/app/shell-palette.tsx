import { Palette } from "../features/palette/palette.tsx";
import type { Typed } from "../features/palette/palette-row.tsx";
import type { Project } from "../lib/workspace.ts";
import { useCommands } from "./use-commands.ts";
import { giveFocusBack } from "./use-shell-dialog.ts";

/** The palette with what the shell offers. */
export function ShellPalette({
  projects,
  ...props
}: {
  projects: readonly Project[];
  open: boolean;
  onOpenChange: (open: boolean) => void;
  typed: Typed;
}) {
  return <Palette {...props} finalFocus={giveFocusBack} {...useCommands(projects)} />;
}
