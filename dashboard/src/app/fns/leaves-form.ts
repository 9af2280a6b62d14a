interface Place {
  pathname: string;
  search: object;
}

/** Whether a form that stands in one place is gone in another. Of what else the address says, a form knows nothing. */
export function leavesForm(from: Place, to: Place): boolean {
  return from.pathname !== to.pathname || tabOf(from) !== tabOf(to);
}

const tabOf = ({ search }: Place): unknown => ("tab" in search ? search.tab : undefined);
