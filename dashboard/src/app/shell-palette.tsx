import { Palette } from "../features/command-menu/palette.tsx";
import type { TypedInput } from "../features/command-menu/palette-row.tsx";
import type { Project } from "../lib/workspace.ts";
import { useCommands } from "./use-commands.ts";
import { giveFocusBack } from "./use-shell-dialog.ts";

/** Command menu with the shell's commands. */
export function ShellPalette({
  projects,
  ...props
}: {
  projects: readonly Project[];
  open: boolean;
  onOpenChange: (open: boolean) => void;
  typed: TypedInput;
}) {
  return <Palette {...props} finalFocus={giveFocusBack} {...useCommands(projects)} />;
}
