import { Toast as Base } from "@base-ui/react/toast";
import { Check, TriangleAlert, X } from "lucide-react";
import { useEffect, useRef } from "react";
import { useUnobstructedPosition } from "../data/use-clear-place.ts";
import { onToast, type ToastMessage } from "./toast.ts";

const manager = Base.createToastManager();

/** Toast container, mounted once in the shell. Lazy: toasts follow only from actions. */
export function Toasts() {
  // Runs after the provider's own effect, so that its listener is ready.
  useEffect(() => onToast(show), []);
  return (
    <Base.Provider toastManager={manager}>
      <Base.Portal>
        <ToastCards />
      </Base.Portal>
    </Base.Provider>
  );
}

/** Shown failures by text: a repeated one is counted instead of shown twice. */
const shownFailures = new Map<string, { id: string; count: number }>();

function show(message: ToastMessage): void {
  if (message.type !== "failed") return void manager.add(message);
  const words = `${message.title}\n${message.description ?? ""}`;
  const before = shownFailures.get(words);
  if (before) {
    before.count++;
    manager.update(before.id, { ...message, title: `${message.title} (${before.count} times)` });
  } else
    shownFailures.set(words, {
      id: manager.add({ ...message, onRemove: () => shownFailures.delete(words) }),
      count: 1,
    });
}

function ToastCards() {
  const { toasts } = Base.useToastManager();
  const place = useRef<HTMLDivElement>(null);
  useUnobstructedPosition(place, toasts);
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
