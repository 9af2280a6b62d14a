import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ListChecks } from "lucide-react";
import { useState } from "react";
import type { SuiteListItem as ListedSuite } from "../../../../server/domain/api-types/suite.ts";
import { ListPage } from "../../entities/crud/list-page.tsx";
import { usePermission } from "../../entities/session/use-may.ts";
import { suitesQuery } from "../../entities/suite/suite-api.ts";
import { formatCount, plural } from "../../lib/format.ts";
import type { NamedSearch } from "../../lib/page-search.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Cell, Row, RowActs, rowLink, SecondLine } from "../../ui/data/table.tsx";
import { Time } from "../../ui/data/time.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { type SuiteAct, SuiteDialogs, SuiteMenu } from "./suite-acts.tsx";
import { SuiteRunPill } from "./suite-pill.tsx";
import { countWords } from "./suite-words.ts";

const columns = [
  { label: "Suite" },
  { label: "Cases", right: true },
  { label: "Last suite run" },
  { label: "When", folds: true },
  { label: "Actions", silent: true },
];

/** Suites of a workspace: recorded runs used as regression tests for agents. */
export function SuitesPage({
  search,
  onSearch,
  onOpen,
}: {
  search: NamedSearch;
  onSearch: (search: NamedSearch) => void;
  onOpen: (suiteId: string) => void;
}) {
  const at = useWorkspace();
  const list = useQuery(suitesQuery(at, search));
  const [act, setAct] = useState<SuiteAct | null>(null);
  return (
    <>
      <ListPage
        title="Suites"
        noun="suite"
        list={list}
        columns={columns}
        search={search}
        onSearch={onSearch}
        row={(suite) => <SuiteRow key={suite.id} suite={suite} onAct={setAct} />}
        searchBy="name"
        create={{ act: "Create suite", onCreate: () => setAct({ kind: "create" }) }}
        empty={{
          icon: ListChecks,
          title: `No ${at.mode} suites yet`,
          about:
            "A suite replays runs with known good results. After you change an agent, a tool or a guardrail, it shows which results would change, without calling a model.",
        }}
      />
      <SuiteDialogs act={act} onAct={setAct} onOpen={onOpen} />
    </>
  );
}

/** A suite's row: number of cases and last result. A click opens it. */
function SuiteRow({ suite, onAct }: { suite: ListedSuite; onAct: (act: SuiteAct) => void }) {
  const { id, name, description, cases_count, last_suite_run: last } = suite;
  const may = usePermission("member");
  return (
    <Row data-suite={id}>
      <Cell main>
        <Link to="/suites/$suiteId" params={{ suiteId: id }} data-row title={name} className={rowLink}>
          <span className="font-medium">{name}</span>
        </Link>
        <SecondLine title={description ?? id}>{description || id}</SecondLine>
      </Cell>
      <Cell right>
        <span className="rail:hidden">{plural(cases_count, "case")}</span>
        <span className="max-rail:hidden">{formatCount(cases_count)}</span>
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
        {may && (
          <RowActs>
            <Button size="sm" kind="ghost" onClick={() => onAct({ kind: "run", suite })}>
              Run suite<span className="sr-only">: {name}</span>
            </Button>
            <SuiteMenu suite={suite} onAct={onAct} />
          </RowActs>
        )}
      </Cell>
    </Row>
  );
}
