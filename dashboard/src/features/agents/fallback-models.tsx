import { ArrowDown, ArrowUp, Plus, X } from "lucide-react";
import { type ComponentProps, useRef } from "react";
import { flushSync } from "react-dom";
import { defaultFailover } from "../../../../server/domain/failover.ts";
import { limits } from "../../../../server/domain/limits.ts";
import { fallbackFaults } from "../../entities/agent/agent-draft.ts";
import type { Draft } from "../../entities/agent/agent-fields.ts";
import { Button } from "../../ui/forms/button.tsx";
import { Combobox } from "../../ui/forms/combobox.tsx";

interface FallbackModelsProps {
  draft: Draft;
  items: ComponentProps<typeof Combobox>["items"];
  fault?: string | null;
  set: (changes: Pick<Draft, "fallbacks"> | Pick<Draft, "failover_on">) => void;
}

const icon = { "aria-hidden": true, className: "size-3.5", strokeWidth: 1.5 } as const;

/** Models that are asked if those before them cannot answer: added, removed and moved. */
export function FallbackModels({ draft, items, fault, set }: FallbackModelsProps) {
  const { fallbacks, failover_on } = draft;
  const faults = fallbackFaults(draft, fault ?? "");
  const list = useRef<HTMLOListElement>(null);
  const change = (next: string[]) => set({ fallbacks: next });

  /** Moves a model; the pressed button keeps the focus, so that the key can be pressed again. */
  function move(from: number, to: number, act: "up" | "down"): void {
    flushSync(() => change(fallbacks.with(from, fallbacks[to] ?? "").with(to, fallbacks[from] ?? "")));
    const row = list.current?.children[to];
    const same = row?.querySelector<HTMLButtonElement>(`[data-act=${act}]:not(:disabled)`);
    (same ?? row?.querySelector<HTMLButtonElement>("[data-act]:not(:disabled)"))?.focus();
  }

  function add(): void {
    flushSync(() => change([...fallbacks, ""]));
    list.current?.lastElementChild?.querySelector("input")?.focus();
  }

  const isFiltered = failover_on?.includes("content_filter") ?? false;
  const reasons = (failover_on ?? defaultFailover).filter((reason) => reason !== "content_filter");
  return (
    <div className="flex flex-col gap-3">
      {fallbacks.length > 0 && (
        <ol ref={list} aria-label="Fallback models" className="flex flex-col gap-3">
          {fallbacks.map((model, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: The rows are places, whose models change.
            <li key={index} className="flex items-start gap-1.5">
              <div className="min-w-0 flex-1">
                <Combobox
                  label={`Fallback model ${index + 1}`}
                  items={items}
                  value={model}
                  error={faults[index]}
                  onValue={(value) => change(fallbacks.with(index, value))}
                />
              </div>
              <div className="mt-6.5 flex gap-1.5">
                <Button
                  size="icon"
                  data-act="up"
                  aria-label={`Move fallback model ${index + 1} up`}
                  disabled={index === 0}
                  onClick={() => move(index, index - 1, "up")}
                >
                  <ArrowUp {...icon} />
                </Button>
                <Button
                  size="icon"
                  data-act="down"
                  aria-label={`Move fallback model ${index + 1} down`}
                  disabled={index === fallbacks.length - 1}
                  onClick={() => move(index, index + 1, "down")}
                >
                  <ArrowDown {...icon} />
                </Button>
                <Button
                  size="icon"
                  aria-label={`Remove fallback model ${index + 1}`}
                  onClick={() => change(fallbacks.toSpliced(index, 1))}
                >
                  <X {...icon} />
                </Button>
              </div>
            </li>
          ))}
        </ol>
      )}
      <div className="flex flex-wrap items-center gap-4">
        <Button size="sm" disabled={fallbacks.length >= limits.models_per_agent - 1} onClick={add}>
          <Plus {...icon} />
          Add fallback model
        </Button>
        {fallbacks.length > 0 && (
          <label className="flex items-center gap-2">
            <input
              type="checkbox"
              checked={isFiltered}
              onChange={({ target }) =>
                set({ failover_on: target.checked ? [...reasons, "content_filter"] : withoutDefault(reasons) })
              }
            />
            Ask the next model after a content filter too
          </label>
        )}
      </div>
    </div>
  );
}

/** Returns null for the default. */
const withoutDefault = (reasons: NonNullable<Draft["failover_on"]>): Draft["failover_on"] =>
  reasons.length === 0 || defaultFailover.every((one) => reasons.includes(one)) ? null : reasons;
