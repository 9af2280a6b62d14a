const after_ms = 60_000;
let lastInputAt_ms = Date.now();

for (const event of ["pointerdown", "pointermove", "keydown", "wheel", "touchstart"])
  globalThis.addEventListener?.(
    event,
    () => {
      lastInputAt_ms = Date.now();
    },
    { capture: true, passive: true },
  );

/** True after a minute without input: requests then carry a header that marks them as automatic. */
export const isUnattended = (now = Date.now()): boolean => now - lastInputAt_ms > after_ms;
