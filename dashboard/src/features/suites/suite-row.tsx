import { Link } from "@tanstack/react-router";
import type { SuiteListItem as ListedSuite } from "../../../../server/wire/suite.ts";
import { formatCount, plural } from "../../lib/format.ts";
import { Button } from "../../ui/button.tsx";
import { Cell, Row, RowActs, rowLink, SecondLine } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import type { SuiteAct } from "./suite-acts.ts";
import { SuiteMenu } from "./suite-menu.tsx";
import { SuiteRunPill } from "./suite-pill.tsx";
import { countWords } from "./suite-words.ts";

/** One suite: how much it pins, and what last came of it. The row opens it. */
export function SuiteRow({
  suite,
  mayChange,
  onAct,
}: {
  suite: ListedSuite;
  mayChange: boolean;
  onAct: (act: SuiteAct) => void;
}) {
  const last = suite.last_suite_run;
  return (
    <Row data-suite={suite.id}>
      <Cell main>
        <Link to="/suites/$suiteId" params={{ suiteId: suite.id }} data-row title={suite.name} className={rowLink}>
          <span className="font-medium">{suite.name}</span>
        </Link>
        <SecondLine title={suite.description ?? suite.id}>{suite.description || suite.id}</SecondLine>
      </Cell>
      <Cell right>
        <span className="rail:hidden">{plural(suite.cases_count, "case")}</span>
        <span className="max-rail:hidden">{formatCount(suite.cases_count)}</span>
      </Cell>
      <Cell className="rail:whitespace-nowrap">
        {last ? (
          <span className="inline-flex flex-wrap items-center gap-x-2">
            <SuiteRunPill status={last.status} />
            <span className="text-xs text-muted">{countWords(last)}</span>
          </span>
        ) : (
          <span className="text-muted">Not run yet</span>
        )}
      </Cell>
      <Cell folds className="whitespace-nowrap text-muted">
        {last ? <Time at={last.created_at} /> : <span className="max-rail:hidden">–</span>}
      </Cell>
      <Cell right className="max-rail:ml-auto rail:w-px">
        {mayChange && (
          <RowActs>
            <Button size="sm" kind="ghost" onClick={() => onAct({ kind: "run", suite })}>
              Run suite<span className="sr-only">: {suite.name}</span>
            </Button>
            <SuiteMenu suite={suite} onAct={onAct} />
          </RowActs>
        )}
      </Cell>
    </Row>
  );
}
