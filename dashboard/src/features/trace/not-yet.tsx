/** Stands where a replay has not come to what was written, or came of a call. */
export function NotYet({ part = false }: { part?: boolean }) {
  return <p className="text-muted">{part ? "Under way" : "Not written yet"}, where the replay stands.</p>;
}
