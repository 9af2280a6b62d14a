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
import type { StartSearch } from "./read-start-search.ts";
import { RunStep } from "./run-step.tsx";
import { StepRail } from "./step-rail.tsx";

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
              Your role is viewer: you may look at everything here, and make nothing. Ask an owner for another role.
            </Note>
          </div>
        ) : mode === "live" ? (
          <div className="mx-auto max-w-180 p-4">
            <Note tone="info">
              <p>This guide works on test data, where nothing can be broken.</p>
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
  const box = useFocusHeading(step);
  const goOn = () => onSearch({ ...search, step: "agent" });
  return (
    <div
      ref={box}
      className="mx-auto grid w-full max-w-235 grid-cols-1 overflow-clip border-line bg-surface rail:grid-cols-[calc(var(--space-10)*5)_minmax(0,1fr)] rail:rounded-xl rail:border rail:shadow-1 wide:grid-cols-[calc(var(--space-10)*6)_minmax(0,1fr)]"
    >
      <StepRail
        step={step}
        done={{ key: key !== null, agent: agent !== undefined }}
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
      {step === "run" && <RunStep agentId={agent} onMakeAgent={() => onSearch({ ...search, step: "agent" })} />}
    </div>
  );
}

/** A step that was gone to begins at its heading. */
function useFocusHeading(step: string) {
  const box = useRef<HTMLDivElement>(null);
  const last = useRef(step);
  useEffect(() => {
    if (last.current !== step) box.current?.querySelector("h2")?.focus();
    last.current = step;
  }, [step]);
  return box;
}
