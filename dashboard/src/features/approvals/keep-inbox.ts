/** A call in the inbox. `isGone`: it was answered elsewhere while it was shown. */
export interface InboxEntry<Call> {
  call: Call;
  isGone: boolean;
}

/** Returns the key of an answer. It contains `needs`, because the same call may need another answer later. */
export const answerKey = ({ id, needs }: { id: string; needs: string }): string => `${id} ${needs}`;

/**
 * Merges the server's current calls into the inbox. Calls answered elsewhere keep their place and are marked, so that
 * nothing moves under the pointer. New calls are appended.
 */
export function mergeInbox<Call extends { id: string; needs: string }>(
  shown: readonly InboxEntry<Call>[],
  calls: readonly Call[],
  answered: ReadonlySet<string>,
): InboxEntry<Call>[] {
  const open = new Map(calls.map((call) => [call.id, call]));
  const remaining = shown
    .filter(({ call }) => open.has(call.id) || !answered.has(answerKey(call)))
    .map(({ call }) => ({ call: open.get(call.id) ?? call, isGone: !open.has(call.id) }));
  const shownIds = new Set(shown.map(({ call }) => call.id));
  return [...remaining, ...calls.filter(({ id }) => !shownIds.has(id)).map((call) => ({ call, isGone: false }))];
}
