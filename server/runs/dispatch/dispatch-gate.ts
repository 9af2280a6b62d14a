export type DispatchGate = ReturnType<typeof createDispatchGate>;

/** Restricts which runs are driven while quarantine looks for the run that crashes the process. */
export function createDispatchGate() {
  // Null: every run.
  let allowed: ReadonlySet<string> | null = null;
  let onChange = () => {};
  return {
    admits: (runId: string): boolean => allowed?.has(runId) !== false,
    isOpen: (): boolean => allowed === null,
    /** Admits only these runs, or every run again. Runs that are driven already continue. */
    only(runIds: ReadonlySet<string> | null): void {
      allowed = runIds;
      onChange();
    },
    /** Sets the callback for changes of the admitted runs. */
    listen(listener: () => void): void {
      onChange = listener;
    },
  };
}
