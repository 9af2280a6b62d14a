import { Check, Copy } from "lucide-react";
import { useCopied } from "../../hooks/use-copied.ts";
import { capital } from "../../lib/format.ts";
import { toast } from "../feedback/toast.ts";
import { Button } from "../forms/button.tsx";
import { CopyByHand } from "./copy-by-hand.tsx";

/** Copies a text and confirms it. If the browser refuses, shows the text to copy by hand. */
export function CopyButton({ text, what }: { text: string; what: string }) {
  const { state, copy, dismiss } = useCopied(text);
  const copied = state === "copied";
  const Icon = copied ? Check : Copy;
  return (
    <>
      <Button
        kind="ghost"
        size="icon-sm"
        onClick={async () => {
          if (await copy()) toast(`${capital(what)} copied`);
        }}
        aria-label={copied ? "Copied" : `Copy ${what}`}
        title={`Copy ${what}`}
      >
        <Icon aria-hidden className="size-3.5" strokeWidth={1.5} />
      </Button>
      {state === "refused" && <CopyByHand what={what} text={text} onClose={dismiss} />}
    </>
  );
}
