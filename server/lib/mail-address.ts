const address = /^[^\s@<>()[\],;:\\"]{1,64}@[a-z0-9](?:[a-z0-9.-]{0,250}[a-z0-9])?$/i;

/** True for a plain address such as `ada@example.com`. */
export const isMailAddress = (text: string): boolean => address.test(text) && !text.includes("..");

/** Reads `Name <address>` or an address; null for anything else, also for several and for line breaks. */
export function readMailbox(text: string): { name: string; address: string } | null {
  const [, name = "", inBrackets] = /^([^<>\p{Cc}]*)<([^<>]+)>$/u.exec(text.trim()) ?? [];
  const given = inBrackets ?? text.trim();
  return isMailAddress(given) ? { name: name.trim().replace(/^"(.*)"$/, "$1"), address: given } : null;
}

/** True for an address, or `*@` and a domain. */
export const isAddressRule = (rule: string): boolean =>
  isMailAddress(rule.startsWith("*@") ? `any${rule.slice(1)}` : rule);

/** True if one of the rules names this address, in any case. */
export function matchesAddress(text: string, rules: readonly string[]): boolean {
  const given = text.toLowerCase();
  return rules.some((rule) => {
    const wanted = rule.toLowerCase();
    return wanted.startsWith("*@") ? given.endsWith(wanted.slice(1)) : given === wanted;
  });
}
