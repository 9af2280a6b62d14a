export interface Route {
  method: string;
  path: string;
}

/** Returns a finder of all routes for a path, whatever their methods. */
export function createRouteFinder<R extends Route>(routes: readonly R[]): (path: string) => R[] {
  const known = routes
    .filter(({ path }) => !path.includes("*")) // A wildcard serves files and names no resource.
    .map((route) => ({ route, pattern: patternOf(route.path) }));
  return (path) => {
    const trimmed = path.replace(/(?<=.)\/$/, "");
    return known.filter(({ pattern }) => pattern.test(trimmed)).map(({ route }) => route);
  };
}

const patternOf = (path: string): RegExp => {
  const parts = path.replace(/(?<=.)\/$/, "").split("/");
  return new RegExp(`^${parts.map((part) => (part.startsWith(":") ? "[^/]+" : RegExp.escape(part))).join("/")}$`);
};
