import type { Environment as Mode } from "../../../server/domain/scope.ts";
import { useWorkspace } from "../lib/workspace.ts";
import { useSwitchMode } from "./use-switch-mode.ts";

const modes: { value: Mode; label: string }[] = [
  { value: "test", label: "Test" },
  { value: "live", label: "Live" },
];

/** Switches between test and live. The mode also colours the shell. */
export function ModeSwitch() {
  const { mode } = useWorkspace();
  const switchMode = useSwitchMode();
  return (
    <fieldset
      aria-label="Data"
      className="grid grid-cols-2 rounded-md border border-mode-line bg-mode-soft p-0.5 rail:grid-cols-1 wide:grid-cols-2"
    >
      {modes.map(({ value, label }) => (
        <button
          key={value}
          type="button"
          aria-pressed={mode === value}
          onClick={() => mode !== value && void switchMode(value)}
          className="h-6.5 rounded-sm text-xs font-medium text-mode-ink transition-colors aria-pressed:bg-mode aria-pressed:font-strong aria-pressed:text-on-mode rail:text-2xs wide:text-xs pointer-coarse:h-8"
        >
          {label}
        </button>
      ))}
    </fieldset>
  );
}
