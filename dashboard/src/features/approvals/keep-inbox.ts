/** A call in the inbox, and whether somebody else has answered it while it was shown. */
export interface Entry<Call> {
  call: Call;
  isGone: boolean;
}

/** What was answered: the same call may ask for something else later. */
export const answerKey = ({ id, needs }: { id: string; needs: string }): string => `${id} ${needs}`;

/**
 * The inbox after the server was asked again: what was answered elsewhere keeps its place and says so, since nothing
 * may move under the pointer; what came since stands at the end.
 */
export function keepInbox<Call extends { id: string; needs: string }>(
  shown: readonly Entry<Call>[],
  calls: readonly Call[],
  answered: ReadonlySet<string>,
): Entry<Call>[] {
  const open = new Map(calls.map((call) => [call.id, call]));
  const kept = shown
    .filter(({ call }) => open.has(call.id) || !answered.has(answerKey(call)))
    .map(({ call }) => ({ call: open.get(call.id) ?? call, isGone: !open.has(call.id) }));
  const known = new Set(shown.map(({ call }) => call.id));
  return [...kept, ...calls.filter(({ id }) => !known.has(id)).map((call) => ({ call, isGone: false }))];
}
