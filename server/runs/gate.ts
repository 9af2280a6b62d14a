export type Gate = ReturnType<typeof createGate>;

/** Who may be driven, while it is found out which run crashes the process. */
export function createGate() {
  // Null: all.
  let allowed: ReadonlySet<string> | null = null;
  let reopened = () => {};
  return {
    admits: (runId: string): boolean => allowed?.has(runId) !== false,
    isOpen: (): boolean => allowed === null,
    /** Lets these runs alone be driven, or all again. Those that are driven already stay. */
    only(runIds: ReadonlySet<string> | null): void {
      allowed = runIds;
      reopened();
    },
    /** Told when others are allowed than before. */
    listen(hear: () => void): void {
      reopened = hear;
    },
  };
}
