import { Link } from "@tanstack/react-router";
import { ApiError } from "../../lib/api.ts";
import { Note } from "../../ui/note.tsx";

/** The suites that keep a run from being deleted, of the refusal that names them. */
export function pinningSuites(error: Error | null): string[] {
  const ids = error instanceof ApiError && error.code === "run_pinned" ? error.details.suite_ids : null;
  return Array.isArray(ids) ? ids.filter((id) => typeof id === "string") : [];
}

/** Says that suites have pinned a run, and leads to them. */
export function PinnedNote({ suiteIds }: { suiteIds: readonly string[] }) {
  return (
    <Note tone="warn" role="alert">
      <b>The run was not deleted</b>
      <p>
        {suiteIds.length === 1 ? "A suite has" : `${suiteIds.length} suites have`} pinned it. Remove the case there
        first.
      </p>
      <ul className="mt-1 flex flex-col items-start">
        {suiteIds.map((suiteId) => (
          <li key={suiteId}>
            <Link
              to="/suites/$suiteId"
              params={{ suiteId }}
              title={suiteId}
              className="text-accent underline underline-offset-2"
            >
              Open the suite
            </Link>
          </li>
        ))}
      </ul>
    </Note>
  );
}
