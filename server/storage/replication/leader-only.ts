interface Leader {
  address: string;
  /** New for each process. */
  certificate: string;
}

const look_ms = 500;

/**
 * Aborts requests to a leader when another node leads the cell: a stopped process neither answers nor closes
 * connections. `leaderOf` returns the leader known to this node.
 */
export function createLeaderOnly(leaderOf: (cell: string) => Leader | null) {
  const cells = new Map<string, { leader: string; replaced: AbortController }>();

  function look(cell: string): AbortController | null {
    const existing = cells.get(cell);
    const at = leaderOf(cell);
    const leader = at && `${at.address} ${at.certificate}`;
    if (!leader || existing?.leader === leader) return existing?.replaced ?? null;
    existing?.replaced.abort(new Error("Another node leads the cell."));
    const replaced = new AbortController();
    cells.set(cell, { leader, replaced });
    return replaced;
  }

  setInterval(() => {
    for (const cell of cells.keys()) look(cell);
  }, look_ms).unref();

  /** Returns a signal that aborts as soon as another node is known to lead this cell. */
  return (cell: string): AbortSignal | undefined => look(cell)?.signal;
}
