const changing = new Set(["POST", "PUT", "PATCH"]);
const kept = /^\/(v1|console\/api)(\/|$)/;
/** What ends or answers something that was begun, or lets people in and out: it needs little, and must go on. */
const always =
  /\/runs\/[^/]+\/(cancel|submit_tool_outputs)\/?$|^\/console\/api\/(login|logout|projects\/[^/]+\/(archive|delete))\/?$/;

/**
 * Whether a request writes something that can wait. A disk that is nearly full refuses those: the room that is left is
 * for the last writes of what was begun. A DELETE is none of them: it makes room, or takes a right away.
 */
export function isNewWork({ method, url }: Request): boolean {
  if (!changing.has(method)) return false;
  const { pathname } = new URL(url);
  return kept.test(pathname) && !always.test(pathname);
}
