interface Place {
  pathname: string;
  search: object;
}

/** Whether a form that stands in one place is gone in another. Of what else the address says, a form knows nothing. */
export function leavesForm(from: Place, to: Place): boolean {
  return from.pathname !== to.pathname || partOf(from) !== partOf(to);
}

/** The part of a page in which a form stands: a tab, or the step of which a fork is made, of one project and mode. */
function partOf({ search }: Place): string {
  const { workspace, tab, fork, step } = search as Partial<Record<"workspace" | "tab" | "fork" | "step", unknown>>;
  return `${workspace} ${fork ? `fork ${step}` : `tab ${tab}`}`;
}
