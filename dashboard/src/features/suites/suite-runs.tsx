import { Link } from "@tanstack/react-router";
import { clsx } from "clsx";
import type { SuiteRunListItem as SuiteRun, Suite as SuiteWithCases } from "../../../../server/wire/suite.ts";
import { CodeBlock } from "../../ui/code-block.tsx";
import { FoldedCode } from "../../ui/show-code.tsx";
import { Time } from "../../ui/time.tsx";
import type { SuiteSearch } from "./read-suites-search.ts";
import { SuiteRunPill } from "./suite-pill.tsx";
import { countWords, shellWord } from "./suite-words.ts";

/** Results of a suite so far, and how a build runs it. */
export function SuiteRuns({
  suite,
  runs,
  shownId,
  search,
}: {
  suite: SuiteWithCases;
  runs: readonly SuiteRun[] | undefined;
  shownId: string | undefined;
  search: SuiteSearch;
}) {
  return (
    <div className="flex shrink-0 flex-col gap-5 border-line px-4 py-4 max-wide:border-t rail:px-5 wide:w-90 wide:overflow-y-auto wide:border-l">
      <section aria-label="Suite runs" className="flex min-w-0 flex-col gap-1">
        <h2 className="text-md">Suite runs</h2>
        {runs?.length === 0 && <p className="text-muted">None yet. The last 50 are listed here.</p>}
        <ul className="-mx-2">
          {runs?.map((run, index) => (
            <li key={run.id}>
              <Link
                to="/suites/$suiteId"
                params={{ suiteId: suite.id }}
                search={{ ...search, case: undefined, result: index === 0 ? undefined : run.id }}
                aria-current={run.id === shownId ? "true" : undefined}
                className={clsx(
                  "flex min-h-10 flex-wrap items-center gap-x-2 rounded-md px-2 py-1 text-xs text-muted",
                  run.id === shownId ? "bg-accent-soft" : "hover:bg-hover",
                )}
              >
                <SuiteRunPill status={run.status} />
                <span>{countWords(run)}</span>
                {run.live && <span>live</span>}
                <span className="ml-auto">
                  <Time at={run.created_at} />
                </span>
              </Link>
            </li>
          ))}
        </ul>
      </section>
      <InBuilds suite={suite} />
    </div>
  );
}

function InBuilds({ suite }: { suite: SuiteWithCases }) {
  const command = [
    `export RUNNEL_URL=${location.origin}`,
    'export RUNNEL_API_KEY="$STAGING_KEY"',
    `runnel suite run ${shellWord(suite.name)} --timeout 10m`,
  ].join("\n");
  return (
    <section aria-label="In a build" className="flex min-w-0 flex-col gap-2">
      <h2 className="text-md">In a build</h2>
      <p className="text-xs text-muted">
        It ends with 0 when all cases are equal, with 1 when one is not, and with 2 when nobody knows. Its key needs the
        scopes read and run.
      </p>
      <CodeBlock code={command} label="build command" />
      <FoldedCode
        name="suite run"
        request={{ method: "POST", path: `/v1/suites/${suite.id}/runs?wait=60`, body: {} }}
      />
    </section>
  );
}
