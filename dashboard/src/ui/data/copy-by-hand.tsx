import { Dialog as Base } from "@base-ui/react/dialog";
import { useRef } from "react";
import { withModifier } from "../../lib/modifier.ts";
import { DialogFoot, DialogShell } from "../dialogs/dialog-shell.tsx";
import { buttonClass } from "../forms/button.tsx";
import { copyRefused } from "./copy.ts";

/** Shows a text selected, to copy by hand. */
export function CopyByHand({ what, text, onClose }: { what: string; text: string; onClose: () => void }) {
  const field = useRef<HTMLTextAreaElement>(null);
  return (
    <Base.Root open onOpenChange={(open) => !open && onClose()}>
      <DialogShell initialFocus={field}>
        <Base.Title className="px-5 pt-5 text-lg">Copy {what} by hand</Base.Title>
        <Base.Description className="px-5 pt-0.5 text-muted">
          {copyRefused} It is selected. Press {withModifier("C")}.
        </Base.Description>
        <div className="px-5 pt-3 pb-5">
          <textarea
            ref={field}
            readOnly
            rows={Math.min(6, text.split("\n").length + Math.floor(text.length / 70))}
            value={text}
            aria-label={what}
            onFocus={(event) => event.currentTarget.select()}
            className="w-full rounded-md border border-line-control bg-subtle px-2.5 py-2 font-mono text-xs text-ink"
          />
        </div>
        <DialogFoot>
          <Base.Close className={buttonClass()}>Close</Base.Close>
        </DialogFoot>
      </DialogShell>
    </Base.Root>
  );
}
