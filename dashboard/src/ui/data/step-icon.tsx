import { stepIcons } from "./icons.ts";

/** Coloured chip of a step type. Hidden from screen readers, because the type is beside it in words. */
export function StepIcon({ type }: { type: string }) {
  const Icon = stepIcons[type] ?? stepIcons.run!;
  return (
    <span
      data-step={type}
      aria-hidden
      className="outlined inline-grid size-5 shrink-0 place-items-center rounded-sm bg-step-soft text-step"
    >
      <Icon className="size-3" strokeWidth={1.75} />
    </span>
  );
}
