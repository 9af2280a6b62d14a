const changing = new Set(["POST", "PUT", "PATCH"]);
const kept = /^\/(v1|console\/api)(\/|$)/;
/**
 * What ends or answers something that was begun, lets people in and out, or changes and replaces a key, which may have
 * leaked: it needs little, and must go on. So does a search, which writes nothing.
 */
const always =
  /\/runs\/[^/]+\/(cancel|submit_tool_outputs)\/?$|\/memory\/[^/]+\/search\/?$|^\/console\/api\/(login|logout|projects\/[^/]+\/(archive|delete))\/?$|\/api_keys\/[^/]+(\/rotate)?\/?$/;

/**
 * Whether a request writes something that can wait. A disk that is nearly full refuses those: the room that is left is
 * for the last writes of what was begun. A DELETE is none of them: it makes room, or takes a right away.
 */
export function isNewWork({ method, url }: Request): boolean {
  if (!changing.has(method)) return false;
  const { pathname } = new URL(url);
  return kept.test(pathname) && !always.test(pathname);
}
