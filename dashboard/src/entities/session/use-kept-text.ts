import { useRef, useState } from "react";
import { readKept, writeKept } from "../../lib/kept.ts";
import { useSessionUser } from "./use-may.ts";

/** A text that is being written. Who leaves its page before it is sent finds it again, even after a reload. */
export function useKeptText(name: string, begun = "") {
  const kept = useKeptName(name);
  const [text, setText] = useState(() => readKept(kept) ?? begun);
  const latest = useRef(text);
  const write = (next: string | ((now: string) => string)): void => {
    latest.current = typeof next === "string" ? next : next(latest.current);
    // At once: what is sent and taken after its page was left is not to stand there again.
    writeKept(kept, latest.current === begun ? null : latest.current);
    setText(latest.current);
  };
  return [text, write] as const;
}

/** The storage key for the signed-in person: the next person who signs in at this tab cannot read the value. */
export function useKeptName(name: string): string {
  return `${useSessionUser()?.id ?? ""}.${name}`;
}
