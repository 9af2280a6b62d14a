import { clsx } from "clsx";
import { Check } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import type { Environment as Mode } from "../../../../server/domain/scope.ts";
import { usePermission } from "../../entities/session/use-may.ts";
import { useTitle } from "../../hooks/use-title.ts";
import { useUnsaved } from "../../hooks/use-unsaved.ts";
import { withModifier } from "../../lib/modifier.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Kbd } from "../../ui/data/kbd.tsx";
import { ModePill } from "../../ui/data/mode-pill.tsx";
import { SheetFoot, SheetHead } from "../../ui/dialogs/sheet.tsx";
import { Callout } from "../../ui/feedback/callout.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { AgentStep } from "./agent-step.tsx";
import type { CreatedKey } from "./first-run-api.ts";
import { KeyStep } from "./key-step.tsx";
import { type StartSearch, type StartStep, startSteps } from "./read-start-search.ts";
import { RunStep } from "./run-step.tsx";

interface StartPageProps {
  search: StartSearch;
  onSearch: (search: StartSearch) => void;
  onLookIn: (mode: Mode) => void;
}

/** The guide: a key, an agent, a streamed run. Each step can be skipped and shows its request. */
export function StartPage({ search, onSearch, onLookIn }: StartPageProps) {
  const { mode } = useWorkspace();
  const mayMake = usePermission("member");
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
            <Callout tone="info">
              Your role is viewer: you can read everything here and create nothing. Ask an owner for another role.
            </Callout>
          </div>
        ) : mode === "live" ? (
          <div className="mx-auto max-w-180 p-4">
            <Callout tone="info">
              <p>This guide uses test data.</p>
              <Button size="sm" className="mt-2" onClick={() => onLookIn("test")}>
                Switch to test data
              </Button>
            </Callout>
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
  const [key, setKey] = useState<CreatedKey | null>(null);
  const [isStored, setIsStored] = useState(false);
  useUnsaved(key !== null && !isStored); // Ask before leaving, because the secret cannot be shown again.
  const [hasRun, setHasRun] = useState(false);
  const box = useFocusHeading(`${step} ${key !== null}`);
  const openAgentStep = () => onSearch({ ...search, step: "agent" });
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
            openAgentStep();
          }}
          onNext={openAgentStep}
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

/** Moves the focus to the heading when the pane changes. */
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
  /** Completed steps. A skipped step is not completed. */
  done: Partial<Record<StartStep, boolean>>;
  onStep: (step: StartStep) => void;
}

/** The steps of the guide with their states. Each step can be opened. */
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
