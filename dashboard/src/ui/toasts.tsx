import { Toast as Base } from "@base-ui/react/toast";
import { Check, TriangleAlert, X } from "lucide-react";
import { useEffect, useRef } from "react";
import { onToast, type Said } from "./toast.ts";
import { useClearPlace } from "./use-clear-place.ts";

const manager = Base.createToastManager();

/** Where they appear; once, in the shell. Loaded apart: nothing is said before somebody did something. */
export function Toasts() {
  // After the provider's own effect: from now on somebody listens.
  useEffect(() => onToast(show), []);
  return (
    <Base.Provider toastManager={manager}>
      <Base.Portal>
        <Shown />
      </Base.Portal>
    </Base.Provider>
  );
}

/** Failures that are told now, by their words: the same once more is counted and not told beside itself. */
const told = new Map<string, { id: string; count: number }>();

function show(said: Said): void {
  if (said.type !== "failed") return void manager.add(said);
  const words = `${said.title}\n${said.description ?? ""}`;
  const before = told.get(words);
  if (before) {
    before.count++;
    manager.update(before.id, { ...said, title: `${said.title} (${before.count} times)` });
  } else told.set(words, { id: manager.add({ ...said, onRemove: () => told.delete(words) }), count: 1 });
}

function Shown() {
  const { toasts } = Base.useToastManager();
  const place = useRef<HTMLDivElement>(null);
  useClearPlace(place, toasts);
  return (
    <Base.Viewport ref={place} className="fixed right-4 bottom-14 z-(--z-toast) flex w-max flex-col items-end gap-2">
      {toasts.map((each) => (
        <Base.Root
          key={each.id}
          toast={each}
          className="enter flex max-w-72 rail:max-w-100 items-start gap-2.5 rounded-lg bg-inverse px-3.5 py-2.5 text-on-inverse shadow-2"
        >
          <ToastIcon failed={each.type === "failed"} />
          <div className="min-w-0 wrap-anywhere">
            <Base.Title className="font-medium" />
            <Base.Description className="text-xs" />
          </div>
          <Base.Close aria-label="Close" className="-mr-1 ml-2 rounded-sm p-0.5">
            <X aria-hidden className="size-4" strokeWidth={1.5} />
          </Base.Close>
        </Base.Root>
      ))}
    </Base.Viewport>
  );
}

function ToastIcon({ failed }: { failed: boolean }) {
  const Icon = failed ? TriangleAlert : Check;
  return <Icon aria-hidden className="mt-0.5 size-4 shrink-0" strokeWidth={1.5} />;
}
