import { Link } from "@tanstack/react-router";
import type { Suite as SuiteWithCases } from "../../../../server/wire/suite.ts";
import { formatCount } from "../../lib/format.ts";
import { Breadcrumb } from "../../ui/breadcrumb.tsx";
import { Button } from "../../ui/button.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Fact, Facts } from "../../ui/facts.tsx";
import { ModePill } from "../../ui/mode-pill.tsx";
import { SheetHead } from "../../ui/sheet.tsx";
import { Time } from "../../ui/time.tsx";
import { ViewOnly } from "../../ui/view-only.tsx";
import type { SuiteAct } from "./suite-acts.ts";
import { SuiteMenu } from "./suite-menu.tsx";

/** Which suite this is, and what can be done with it. */
export function SuiteHead({
  suite,
  mayChange,
  onAct,
}: {
  suite: SuiteWithCases;
  mayChange: boolean;
  onAct: (act: SuiteAct) => void;
}) {
  return (
    <SheetHead>
      <Breadcrumb>
        <Link to="/suites">Suites</Link>
      </Breadcrumb>
      <h1 className="cut text-lg max-rail:w-full" title={suite.name}>
        {suite.name}
      </h1>
      <ModePill />
      <span className="ml-auto flex items-center gap-1.5">
        {mayChange ? (
          <>
            <Button onClick={() => onAct({ kind: "add", suite })}>Add cases</Button>
            <Button kind="primary" onClick={() => onAct({ kind: "run", suite })}>
              Run suite
            </Button>
            <SuiteMenu suite={suite} onAct={onAct} />
          </>
        ) : (
          <ViewOnly />
        )}
      </span>
      <Facts>
        <Fact name="Suite">
          <code className="cut">{suite.id}</code>
          <CopyButton text={suite.id} what="suite id" />
        </Fact>
        <Fact name="Cases">{formatCount(suite.cases.length)}</Fact>
        <Fact name="Changed">
          <Time at={suite.updated_at} />
        </Fact>
        {suite.description && (
          <Fact name="For">
            <span className="cut" title={suite.description}>
              {suite.description}
            </span>
          </Fact>
        )}
      </Facts>
    </SheetHead>
  );
}
