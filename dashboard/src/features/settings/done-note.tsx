import { type ReactNode, useEffect, useRef } from "react";
import { Callout } from "../../ui/feedback/callout.tsx";

/** Status message. It takes the focus, because the pressed button disappeared with its project. */
export function DoneNote({ children }: { children: ReactNode }) {
  const note = useRef<HTMLDivElement>(null);
  useEffect(() => note.current?.focus(), []);
  return (
    <div ref={note} tabIndex={-1} className="mt-4 rounded-md">
      <Callout tone="ok" role="status">
        {children}
      </Callout>
    </div>
  );
}
