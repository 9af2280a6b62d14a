/** What stands in a field after a text of it was sent: what was written meanwhile stays. */
export function withoutSent(now: string, sent: string): string {
  return now.startsWith(sent) ? now.slice(sent.length) : now;
}
