interface Place {
  pathname: string;
  search: object;
}

/** Whether a form that stands in one place is gone in another. Of what else the address says, a form knows nothing. */
export function leavesForm(from: Place, to: Place): boolean {
  return from.pathname !== to.pathname || partOf(from) !== partOf(to);
}

/** The part of a page in which a form stands: a tab, or the step of which a fork is made. */
function partOf({ search }: Place): string {
  const { tab, fork, step } = search as { tab?: unknown; fork?: unknown; step?: unknown };
  return fork ? `fork ${step}` : `tab ${tab}`;
}
