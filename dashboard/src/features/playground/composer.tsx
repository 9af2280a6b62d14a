import { ArrowUp, SquarePen, Square as StopIcon } from "lucide-react";
import { type KeyboardEvent, type Ref, useEffect, useEffectEvent, useId, useState } from "react";
import { Button } from "../../ui/forms/button.tsx";
import { AttachButton, AttachmentList } from "./attachment-list.tsx";
import type { Attachments } from "./use-attachments.ts";

/** Message input; ⌘↵ sends. */
export function Composer({
  ref,
  text,
  placeholder,
  problem,
  isBusy,
  isSteering,
  isReading,
  canClear,
  attachments,
  onText,
  onSend,
  onInterrupt,
  onUp,
  onStop,
  onClear,
}: {
  ref?: Ref<HTMLTextAreaElement>;
  text: string;
  placeholder: string;
  /** Reason why sending is disabled. */
  problem: string | null;
  isBusy: boolean;
  /** True if a message goes to the run that is at work. */
  isSteering: boolean;
  /** True while earlier messages are loading. */
  isReading: boolean;
  canClear: boolean;
  /** Files of the message; added by the button, by pasting or by dropping. */
  attachments: Attachments;
  onText: (text: string) => void;
  onSend: () => void;
  /** Sends the message and ends the answer in progress. */
  onInterrupt: () => void;
  /** Called on arrow up at the start of the text. Returns false if there is nothing to go to. */
  onUp: () => boolean;
  onStop: () => void;
  onClear: () => void;
}) {
  const id = useId();
  const hasContent = text.trim() !== "" || attachments.all.length > 0;
  const isReady = !problem && (!isBusy || isSteering) && !isReading && hasContent && !attachments.isWaiting;
  // A message that is sent too early goes out as soon as it can: a key that does nothing looks broken.
  const isSoon = isReading || (attachments.isWaiting && attachments.all.every(({ error }) => error === null));
  const [waitingText, setWaitingText] = useState<string | null>(null);
  const isAsked = waitingText === text && isSoon && !problem && !isBusy && hasContent;
  const sendWaiting = useEffectEvent(() => {
    setWaitingText(null);
    if (waitingText === text && isReady && !isSteering) onSend();
  });
  useEffect(() => {
    if (!isSoon) sendWaiting();
  }, [isSoon]);
  const take = (event: { preventDefault(): void }, files: FileList | undefined) => {
    if (problem || !files || files.length === 0) return;
    event.preventDefault();
    attachments.add([...files]);
  };
  const onKey = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    const { selectionStart, selectionEnd } = event.currentTarget;
    if (event.key === "ArrowUp" && selectionStart === 0 && selectionEnd === 0 && onUp()) event.preventDefault();
    if (event.key !== "Enter" || !(event.metaKey || event.ctrlKey)) return;
    event.preventDefault();
    if (!isReady) return setWaitingText(isSoon ? text : null);
    if (isSteering && event.shiftKey) onInterrupt();
    else onSend();
  };
  return (
    <form
      className="mx-auto w-full max-w-(--pg-read) rounded-lg border border-line-control bg-surface shadow-1 has-[textarea:focus-visible]:border-accent has-[textarea:focus-visible]:shadow-(--focus)"
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady) onSend();
      }}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => take(event, event.dataTransfer.files)}
      onPaste={(event) => take(event, event.clipboardData.files)}
    >
      <AttachmentList {...attachments} />
      <label htmlFor={id} className="sr-only">
        Message to the agent
      </label>
      <textarea
        ref={ref}
        id={id}
        rows={2}
        value={text}
        placeholder={placeholder}
        aria-describedby={problem ? `${id}-problem` : undefined}
        onChange={(event) => onText(event.target.value)}
        onKeyDown={onKey}
        className="field-sizing-content block max-h-60 min-h-16 w-full resize-none rounded-lg bg-transparent px-3.5 pt-2.5 pb-1 text-md text-ink focus-visible:shadow-none"
      />
      <div className="flex min-h-10 flex-wrap items-center gap-2 px-1.5 pb-1.5">
        <AttachButton disabled={problem !== null} onFiles={attachments.add} />
        {canClear && (
          <Button kind="ghost" size="sm" onClick={onClear}>
            <SquarePen aria-hidden className="size-3.5" strokeWidth={1.5} />
            New conversation
          </Button>
        )}
        {problem && (
          <span id={`${id}-problem`} className="min-w-0 px-2 text-xs text-muted">
            {problem}
          </span>
        )}
        <span className="ml-auto flex items-center gap-2">
          {isAsked && (
            <span role="status" className="text-xs text-muted">
              {isReading ? "Sends after the conversation is here" : "Sends after the files are here"}
            </span>
          )}
          {isReady && !isSteering && <span className="text-xs text-muted max-rail:hidden">⌘↵ or Ctrl ↵</span>}
          {isReady && isSteering && (
            <Button size="sm" onClick={onInterrupt} title="Sends the message and ends the answer in progress (⇧⌘↵)">
              Interrupt
            </Button>
          )}
          {isBusy && (
            <Button size="sm" onClick={onStop}>
              <StopIcon aria-hidden className="size-3.5" strokeWidth={1.5} />
              Stop
            </Button>
          )}
          <Button type="submit" kind="primary" size="icon-sm" aria-label="Send" title="Send" disabled={!isReady}>
            <ArrowUp aria-hidden className="size-4" strokeWidth={1.5} />
          </Button>
        </span>
      </div>
    </form>
  );
}
