import { Dialog } from "@base-ui/react/dialog";
import { X } from "lucide-react";
import { usePreference } from "../lib/local-storage.ts";
import { withModifier } from "../lib/modifier.ts";
import { Kbd } from "../ui/data/kbd.tsx";
import { DialogShell } from "../ui/dialogs/dialog-shell.tsx";
import { buttonClass } from "../ui/forms/button.tsx";

const groups: { title: string; keys: [keys: string[], does: string][] }[] = [
  {
    title: "Everywhere",
    keys: [
      [[withModifier("K")], "Search and commands"],
      [["?"], "Keyboard shortcuts"],
      [["/"], "Search this page"],
      [["c"], "Create: key, agent, webhook …"],
      [[withModifier("↵")], "Submit the form"],
      [["Esc"], "Close the dialog or menu"],
    ],
  },
  {
    title: "Go to",
    keys: [
      [["g o"], "Overview"],
      [["g p"], "Playground"],
      [["g r"], "Runs"],
      [["g a"], "Approvals"],
      [["g k"], "API keys"],
    ],
  },
  {
    title: "Lists",
    keys: [
      [["j", "k"], "Next, previous row"],
      [["↵"], "Open the row"],
      [["x"], "Select the row"],
      [["n", "p"], "Next, previous difference or problem"],
    ],
  },
  {
    title: "Trace and replay",
    keys: [
      [["↑", "↓", "Home", "End"], "Step by step"],
      [["←", "→"], "Close or parent, open"],
      [["[", "]"], "Tab of the detail"],
      [["space"], "Play or pause"],
      [[",", "."], "Previous step, next step"],
      [["+", "-", "0"], "Zoom in, zoom out, whole run"],
      [["h", "l"], "Earlier, later while zoomed in"],
      [["f"], "Fork from the selected step"],
      [["z"], "Pause the run, or resume it"],
      [["m"], "Send a message to the run"],
    ],
  },
  {
    title: "Approvals",
    keys: [
      [["a"], "Approve"],
      [["r"], "Reject"],
      [["u"], "Undo the approval"],
      [["↑"], "From an empty message to the call that waits"],
    ],
  },
];

/** Dialog with the keyboard shortcuts. */
export function KeyMap({ open, onOpenChange }: { open: boolean; onOpenChange: (open: boolean) => void }) {
  const [single] = usePreference("keys", ["on", "off"], "on");
  return (
    <Dialog.Root open={open} onOpenChange={onOpenChange}>
      <DialogShell wide>
        <div className="flex items-center justify-between pt-3 pr-3 pl-5">
          <Dialog.Title className="text-lg">Keyboard shortcuts</Dialog.Title>
          <Dialog.Close className={buttonClass({ kind: "ghost", size: "icon" })} aria-label="Close">
            <X aria-hidden className="size-4" strokeWidth={1.5} />
          </Dialog.Close>
        </div>
        <Dialog.Description className="px-5 text-muted">
          {single === "off"
            ? "Single-key shortcuts are off in this browser: see Account."
            : "Single keys are ignored while you type. Turn them off in Account."}
        </Dialog.Description>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard. */}
        <section aria-label="All keys" tabIndex={0} className="min-h-0 overflow-y-auto px-5 pt-3 pb-5">
          <div className="gap-x-10 rail:columns-2">
            {groups.map(({ title, keys }) => (
              <div key={title} className="break-inside-avoid pb-4">
                <h2 className="pb-1 text-2xs font-medium text-muted">{title}</h2>
                <dl>
                  {keys.map(([names, does]) => (
                    <div
                      key={does}
                      className="flex items-center justify-between gap-4 border-b border-line-soft py-1.5"
                    >
                      <dt className="min-w-0">{does}</dt>
                      <dd className="flex shrink-0 gap-1">
                        {names.map((name) => (
                          <Kbd key={name}>{name}</Kbd>
                        ))}
                      </dd>
                    </div>
                  ))}
                </dl>
              </div>
            ))}
          </div>
        </section>
      </DialogShell>
    </Dialog.Root>
  );
}
