interface Place {
  pathname: string;
  search: object;
}

/** True if navigating from one address to another removes a form. Other search parameters do not matter to it. */
export function leavesForm(from: Place, to: Place): boolean {
  return from.pathname !== to.pathname || partOf(from) !== partOf(to);
}

/** Identifies the part of a page that holds a form: a tab, or the forked step, within a project and mode. */
function partOf({ search }: Place): string {
  const { workspace, tab, fork, step } = search as Partial<Record<"workspace" | "tab" | "fork" | "step", unknown>>;
  return `${workspace} ${fork ? `fork ${step}` : `tab ${tab}`}`;
}
