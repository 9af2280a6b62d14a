import { clsx } from "clsx";
import { Check } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import type { Environment as Mode } from "../../../../server/core/scope.ts";
import { useMay } from "../../entities/session/use-may.ts";
import { withModifier } from "../../lib/modifier.ts";
import { useTitle } from "../../lib/use-title.ts";
import { useUnsaved } from "../../lib/use-unsaved.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Button } from "../../ui/button.tsx";
import { Kbd } from "../../ui/kbd.tsx";
import { ModePill } from "../../ui/mode-pill.tsx";
import { Note } from "../../ui/note.tsx";
import { SheetFoot, SheetHead } from "../../ui/sheet.tsx";
import { AgentStep } from "./agent-step.tsx";
import type { MadeKey } from "./first-run-api.ts";
import { KeyStep } from "./key-step.tsx";
import { type StartSearch, type StartStep, startSteps } from "./read-start-search.ts";
import { RunStep } from "./run-step.tsx";

interface StartPageProps {
  search: StartSearch;
  onSearch: (search: StartSearch) => void;
  onLookIn: (mode: Mode) => void;
}

/** The guide: a key, an agent, a streamed run. Each step can be skipped, and each shows its request. */
export function StartPage({ search, onSearch, onLookIn }: StartPageProps) {
  const { mode } = useWorkspace();
  const mayMake = useMay("member");
  useTitle("First steps");
  return (
    <>
      <SheetHead>
        <h1 className="text-lg">First steps</h1>
        <ModePill />
      </SheetHead>
      <div className="relative min-h-0 flex-1 overflow-y-auto rail:px-5 rail:py-6">
        {!mayMake ? (
          <div className="mx-auto max-w-180 p-4">
            <Note tone="info">
              Your role is viewer: you can read everything here and create nothing. Ask an owner for another role.
            </Note>
          </div>
        ) : mode === "live" ? (
          <div className="mx-auto max-w-180 p-4">
            <Note tone="info">
              <p>This guide uses test data.</p>
              <Button size="sm" className="mt-2" onClick={() => onLookIn("test")}>
                Switch to test data
              </Button>
            </Note>
          </div>
        ) : (
          <Guide search={search} onSearch={onSearch} />
        )}
      </div>
      <SheetFoot>
        <span>Nothing leaves this machine unless you connect a model.</span>
        <span className="ml-auto hidden items-center gap-1.5 rail:flex">
          You can open this guide again with <Kbd>{withModifier("K")}</Kbd>
        </span>
      </SheetFoot>
    </>
  );
}

function Guide({ search, onSearch }: Pick<StartPageProps, "search" | "onSearch">) {
  const { step = "key", agent } = search;
  const [key, setKey] = useState<MadeKey | null>(null);
  const [isStored, setIsStored] = useState(false);
  useUnsaved(key !== null && !isStored); // Nobody can show its secret again.
  const [hasRun, setHasRun] = useState(false);
  const box = useFocusHeading(`${step} ${key !== null}`);
  const goOn = () => onSearch({ ...search, step: "agent" });
  return (
    <div
      ref={box}
      className="mx-auto grid w-full max-w-235 grid-cols-1 overflow-clip border-line bg-surface rail:grid-cols-[calc(var(--space-10)*5)_minmax(0,1fr)] rail:rounded-xl rail:border rail:shadow-1 wide:grid-cols-[calc(var(--space-10)*6)_minmax(0,1fr)]"
    >
      <StepRail
        step={step}
        done={{ key: isStored, agent: agent !== undefined, run: hasRun }}
        onStep={(next) => onSearch({ ...search, step: next })}
      />
      {step === "key" && (
        <KeyStep
          made={key}
          onMade={setKey}
          onStored={() => {
            setIsStored(true);
            goOn();
          }}
          onNext={goOn}
        />
      )}
      {step === "agent" && (
        <AgentStep
          onMade={(id) => onSearch({ step: "run", agent: id })}
          onSkip={() => onSearch({ ...search, step: "run" })}
        />
      )}
      {step === "run" && (
        <RunStep
          agentId={agent}
          apiKey={key}
          onMakeAgent={() => onSearch({ ...search, step: "agent" })}
          onCompleted={() => setHasRun(true)}
        />
      )}
    </div>
  );
}

/** A pane that was gone to begins at its heading. */
function useFocusHeading(pane: string) {
  const box = useRef<HTMLDivElement>(null);
  const last = useRef(pane);
  useEffect(() => {
    if (last.current !== pane) box.current?.querySelector("h2")?.focus();
    last.current = pane;
  }, [pane]);
  return box;
}

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
function StepRail({ step, done, onStep }: StepRailProps) {
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
              <Dot state={done[each] ? "done" : each === step ? "now" : "later"} number={index + 2} />
              <Words name={words[each][0]} about={words[each][1]} />
              {done[each] && <span className="sr-only">, done</span>}
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
