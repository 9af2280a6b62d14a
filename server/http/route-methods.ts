export interface Route {
  method: string;
  path: string;
}

/** The methods that some route has for this path, sorted; none when there is no such path. */
export function createMethodFinder(routes: readonly Route[]): (path: string) => string[] {
  const known = routes
    .filter(({ path }) => !path.includes("*")) // A wildcard serves files and names no resource.
    .map(({ method, path }) => ({ method, pattern: patternOf(path) }));
  return (path) => {
    const trimmed = path.replace(/(?<=.)\/$/, "");
    return [...new Set(known.filter(({ pattern }) => pattern.test(trimmed)).map(({ method }) => method))].sort();
  };
}

const patternOf = (path: string): RegExp => {
  const parts = path.replace(/(?<=.)\/$/, "").split("/");
  return new RegExp(`^${parts.map((part) => (part.startsWith(":") ? "[^/]+" : RegExp.escape(part))).join("/")}$`);
};
