/**
 * The page to go to after signing in. Only paths of the dashboard: anything else in the address could send a person
 * who has just typed a password to another site.
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
