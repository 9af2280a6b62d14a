interface Leader {
  address: string;
  /** Made anew by each process. */
  certificate: string;
}

const look_ms = 500;

/**
 * Ends what waits for a leader once another one leads: a process that is stopped answers nothing, and closes nothing
 * either. `leaderOf` says who leads a cell, as far as this node knows.
 */
export function createWhileLeading(leaderOf: (cell: string) => Leader | null) {
  const cells = new Map<string, { leader: string; replaced: AbortController }>();

  function look(cell: string): AbortController | null {
    const known = cells.get(cell);
    const at = leaderOf(cell);
    const leader = at && `${at.address} ${at.certificate}`;
    if (!leader || known?.leader === leader) return known?.replaced ?? null;
    known?.replaced.abort(new Error("Another node leads the cell."));
    const replaced = new AbortController();
    cells.set(cell, { leader, replaced });
    return replaced;
  }

  setInterval(() => {
    for (const cell of cells.keys()) look(cell);
  }, look_ms).unref();

  /** Aborted as soon as another node than the one that leads this cell now is known to lead it. */
  return (cell: string): AbortSignal | undefined => look(cell)?.signal;
}
