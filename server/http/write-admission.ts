import { createRouteFinder } from "./find-routes.ts";
import { declarationOf, type Route } from "./operation.ts";

const changing = new Set(["POST", "PUT", "PATCH"]);

/**
 * Returns a function that is true if a request starts work that can wait, by its route's declaration. On a nearly full
 * disk these are refused, because the remaining room is for work that has started.
 */
export function createWriteAdmission(routes: () => readonly Route[]) {
  let findRoutes: ReturnType<typeof createRouteFinder> | undefined;
  return ({ method, url }: Request): boolean => {
    if (!changing.has(method)) return false;
    findRoutes ??= createRouteFinder(routes().filter((route) => declarationOf(route).needsRoom !== false));
    return findRoutes(new URL(url).pathname).some((route) => route.method === method);
  };
}
