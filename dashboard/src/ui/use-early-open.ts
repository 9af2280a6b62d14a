import { useLayoutEffect, useRef, useState } from "react";

/**
 * Whether what opens from a trigger is open, where its part may come after the first click. The trigger has the focus
 * before that is taken from it: it gets it back, also from a dialog that opens out of it.
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
