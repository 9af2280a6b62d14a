const after_ms = 60_000;
let last = Date.now();

for (const event of ["pointerdown", "pointermove", "keydown", "wheel", "touchstart"])
  globalThis.addEventListener?.(
    event,
    () => {
      last = Date.now();
    },
    { capture: true, passive: true },
  );

/** Whether nobody did anything here for a minute: what the page reads then, it reads by itself. */
export const isUnattended = (now = Date.now()): boolean => now - last > after_ms;
