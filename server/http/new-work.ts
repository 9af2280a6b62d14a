import { createRouteFinder } from "./find-routes.ts";
import { declarationOf, type Route } from "./operation.ts";

const changing = new Set(["POST", "PUT", "PATCH"]);

/**
 * Whether a request writes something that can wait, by what its route says. A disk that is nearly full refuses those: the
 * room that is left is for the last writes of what was begun.
 */
export function createIsNewWork(routes: () => readonly Route[]) {
  let findRoutes: ReturnType<typeof createRouteFinder> | undefined;
  return ({ method, url }: Request): boolean => {
    if (!changing.has(method)) return false;
    findRoutes ??= createRouteFinder(routes().filter((route) => declarationOf(route).needsRoom !== false));
    return findRoutes(new URL(url).pathname).some((route) => route.method === method);
  };
}
