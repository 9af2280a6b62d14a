import { Check, Copy } from "lucide-react";
import { capital } from "../lib/format.ts";
import { useCopied } from "../lib/use-copied.ts";
import { Button } from "./button.tsx";
import { CopyByHand } from "./copy-by-hand.tsx";
import { toast } from "./toast.ts";

/** Copies a text and says so. Where the browser refuses, it shows the text to be copied by hand. */
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
