/**
 * Returns the path to open after signing in. Only dashboard paths are allowed: an open redirect could send a person who
 * has just typed a password to another site.
 */
export function safeReturn(to: string | undefined): string {
  if (
    !to ||
    !/^\/[\w\-/?=&.%+*#]*$/.test(to) ||
    to.startsWith("//") ||
    to.startsWith("/login") ||
    to.startsWith("/setup")
  )
    return "/overview";
  return to;
}
