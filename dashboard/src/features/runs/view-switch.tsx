import type { RunView } from "./run-page.tsx";

const views: { value: RunView; label: string }[] = [
  { value: "output", label: "Output" },
  { value: "events", label: "Events" },
];

/** On a phone, which of the two panes is shown. */
export function ViewSwitch({ view, onView }: { view: RunView; onView: (view: RunView) => void }) {
  return (
    <fieldset aria-label="Pane" className="flex shrink-0 gap-4 border-b border-line px-4 rail:hidden">
      {views.map(({ value, label }) => (
        <button
          key={value}
          type="button"
          aria-pressed={view === value}
          onClick={() => onView(value)}
          className="h-10 border-b-2 border-transparent font-medium text-muted aria-pressed:border-accent aria-pressed:text-ink"
        >
          {label}
        </button>
      ))}
    </fieldset>
  );
}
