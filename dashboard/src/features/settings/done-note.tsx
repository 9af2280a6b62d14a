import { type ReactNode, useEffect, useRef } from "react";
import { Note } from "../../ui/note.tsx";

/** Says what was done. It takes the focus, since the button that did it is gone with its project. */
export function DoneNote({ children }: { children: ReactNode }) {
  const note = useRef<HTMLDivElement>(null);
  useEffect(() => note.current?.focus(), []);
  return (
    <div ref={note} tabIndex={-1} className="mt-4 rounded-md">
      <Note tone="ok" role="status">
        {children}
      </Note>
    </div>
  );
}
