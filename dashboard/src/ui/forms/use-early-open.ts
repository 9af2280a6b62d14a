import { useLayoutEffect, useRef, useState } from "react";

/**
 * Open state of a popup whose code may load after the first click. The trigger is focused before opening, so that
 * closing returns the focus to it, also from a dialog opened by it.
 */
export function useEarlyOpen(openAtOnce = false) {
  const [isOpen, setOpen] = useState(false);
  const trigger = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    if (!openAtOnce) return;
    trigger.current?.focus();
    setOpen(true);
  }, [openAtOnce]);
  return { isOpen, setOpen, trigger };
}
