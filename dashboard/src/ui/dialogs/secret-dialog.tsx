import { Dialog as Base } from "@base-ui/react/dialog";
import { Check, Copy } from "lucide-react";
import { type ReactNode, type RefObject, useRef, useState } from "react";
import { useCopied } from "../../hooks/use-copied.ts";
import { CopyByHand } from "../data/copy-by-hand.tsx";
import { Callout } from "../feedback/callout.tsx";
import { Button } from "../forms/button.tsx";
import { DialogFoot, DialogShell } from "./dialog-shell.tsx";

interface SecretDialogProps {
  title: string;
  /** One line about the secret's purpose. */
  about: ReactNode;
  secret: string;
  /** Name of its variable in a .env file; absent if it does not belong there. */
  variable?: string;
  /** Label of the close button. */
  act?: string;
  children: ReactNode;
  onStored: () => void;
}

/** Shows a secret once. Only its button closes it; Escape asks. */
export function SecretDialog({
  title,
  about,
  secret,
  variable,
  act = "I've saved it",
  children,
  onStored,
}: SecretDialogProps) {
  const copy = useRef<HTMLButtonElement>(null);
  const [isConfirming, setIsConfirming] = useState(false);
  return (
    <Base.Root
      open
      disablePointerDismissal
      onOpenChange={(open) => {
        if (!open) setIsConfirming(true);
      }}
    >
      <DialogShell wide initialFocus={copy}>
        <Base.Title className="px-5 pt-5 text-lg wrap-anywhere">{title}</Base.Title>
        <Base.Description className="px-5 pt-0.5 text-muted wrap-anywhere">{about}</Base.Description>
        <div className="flex min-h-0 flex-col gap-4 overflow-y-auto px-5 pt-4 pb-5">
          <Secret secret={secret} copy={copy} />
          {children}
          {isConfirming && (
            <Callout tone="ask" role="alert">
              <b>Did you save it?</b>
              <p>It cannot be shown again. If you lose it, you need a new one.</p>
            </Callout>
          )}
        </div>
        <DialogFoot>
          {variable && <CopyText text={`${variable}=${secret}`}>Copy as .env line</CopyText>}
          <Button kind="primary" onClick={onStored}>
            {act}
          </Button>
        </DialogFoot>
      </DialogShell>
    </Base.Root>
  );
}

function Secret({ secret, copy }: { secret: string; copy: RefObject<HTMLButtonElement | null> }) {
  return (
    <div className="flex min-w-0 items-center gap-2 rounded-md border border-line-control bg-subtle py-1.5 pr-1.5 pl-3">
      <code className="min-w-0 flex-1 wrap-anywhere select-all" data-secret>
        {secret}
      </code>
      <CopyText text={secret} primary button={copy}>
        Copy
      </CopyText>
    </div>
  );
}

function CopyText({
  text,
  primary = false,
  button,
  children,
}: {
  text: string;
  primary?: boolean;
  button?: RefObject<HTMLButtonElement | null>;
  children: ReactNode;
}) {
  const { state, copy, dismiss } = useCopied(text);
  const copied = state === "copied";
  const Icon = copied ? Check : Copy;
  return (
    <>
      <Button
        ref={button}
        kind={primary ? "primary" : "plain"}
        size={primary ? "sm" : "md"}
        onClick={() => void copy()}
      >
        <Icon aria-hidden className="size-3.5" strokeWidth={1.5} />
        {copied ? "Copied" : children}
      </Button>
      {state === "refused" && <CopyByHand what="secret" text={text} onClose={dismiss} />}
    </>
  );
}
