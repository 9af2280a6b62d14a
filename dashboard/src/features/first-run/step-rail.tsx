import { clsx } from "clsx";
import { Check } from "lucide-react";
import type { StartStep } from "./read-start-search.ts";
import { startSteps } from "./read-start-search.ts";

const words: Record<StartStep, [name: string, about: string]> = {
  key: ["A test key", "shown once"],
  agent: ["An agent", "no provider needed"],
  run: ["The first run", "streamed"],
};

interface StepRailProps {
  step: StartStep;
  /** What was made in this guide; what was skipped is not done. */
  done: Partial<Record<StartStep, boolean>>;
  onStep: (step: StartStep) => void;
}

/** The way through the guide: what is done, where one is, what is left. Each step can be gone to. */
export function StepRail({ step, done, onStep }: StepRailProps) {
  return (
    <nav
      aria-label="First steps"
      className="border-b border-line bg-subtle p-3 rail:border-r rail:border-b-0 rail:px-5 rail:py-6"
    >
      <ol className="flex justify-between gap-0.5 rail:flex-col">
        <li className="flex items-start gap-2.5 p-2 text-muted max-rail:flex-col max-rail:items-center max-rail:gap-1 max-rail:p-1 max-rail:text-2xs">
          <Dot state="done" number={1} />
          <Words name="Your account" about="done" />
        </li>
        {startSteps.map((each, index) => (
          <li key={each}>
            <button
              type="button"
              aria-current={each === step ? "step" : undefined}
              onClick={() => onStep(each)}
              className="flex w-full items-start gap-2.5 rounded-md p-2 text-left text-muted hover:bg-hover aria-[current=step]:text-ink max-rail:flex-col max-rail:items-center max-rail:gap-1 max-rail:p-1 max-rail:text-2xs"
            >
              <Dot state={each === step ? "now" : done[each] ? "done" : "later"} number={index + 2} />
              <Words name={words[each][0]} about={words[each][1]} />
            </button>
          </li>
        ))}
      </ol>
    </nav>
  );
}

function Dot({ state, number }: { state: "done" | "now" | "later"; number: number }) {
  return (
    <span
      aria-hidden
      className={clsx(
        "grid size-5 shrink-0 place-items-center rounded-full border text-2xs",
        state === "done" && "border-ok bg-ok text-surface",
        state === "now" && "border-accent text-accent ring-3 ring-accent-soft",
        state === "later" && "border-line-control",
      )}
    >
      {state === "done" ? <Check className="size-3" strokeWidth={2.5} /> : number}
    </span>
  );
}

function Words({ name, about }: { name: string; about: string }) {
  return (
    <span>
      <b className="block font-medium">{name}</b>
      <span className="hidden text-xs text-muted rail:block">{about}</span>
    </span>
  );
}
