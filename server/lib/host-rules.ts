/** True for `example.com` (also with a port) and `*.example.com`, in lower or upper case. */
export const isHostRule = (rule: string): boolean =>
  /^(\*\.)?(?!-)[a-z0-9-]+(\.[a-z0-9-]+)*(:\d{1,5})?$/i.test(rule) && !/^\*\.[^.]*$/.test(rule);

/**
 * True if one of the rules names the URL's host. A rule without a port stands for the scheme's own; `*.example.com` does
 * not stand for `example.com`.
 */
export const matchesHost = ({ host }: URL, rules: readonly string[]): boolean =>
  rules.some((rule) => {
    const wanted = rule.toLowerCase();
    return wanted.startsWith("*.") ? host.endsWith(wanted.slice(1)) : host === wanted;
  });
