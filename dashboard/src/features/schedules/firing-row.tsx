import { Link } from "@tanstack/react-router";
import type { ScheduleRun as Firing } from "../../../../server/wire/schedule.ts";
import { Cell, Row, rowLink, SecondLine } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { OutcomePill } from "./schedule-pill.tsx";

const triggers: Record<Firing["trigger"], string> = {
  plan: "By plan",
  catch_up: "For what was missed",
  request: "Asked for",
};

/** A time that came, and what came of it; its run opens. */
export function FiringRow({ firing }: { firing: Firing }) {
  const line = firing.error?.message ?? silence[firing.outcome];
  return (
    <Row stops={!firing.run_id}>
      <Cell className="rail:w-px">
        <OutcomePill outcome={firing.outcome} />
      </Cell>
      <Cell main>
        {firing.run_id ? (
          <Link to="/runs/$runId" params={{ runId: firing.run_id }} data-row title={firing.run_id} className={rowLink}>
            <code>{firing.run_id}</code>
          </Link>
        ) : (
          <span className="text-muted">No run</span>
        )}
        {line && (
          <SecondLine title={line} tone={firing.error ? "text-bad" : "text-muted"}>
            {line}
          </SecondLine>
        )}
      </Cell>
      <Cell className="whitespace-nowrap text-muted">{triggers[firing.trigger]}</Cell>
      <Cell className="whitespace-nowrap">
        <Time at={firing.due_at} />
      </Cell>
    </Row>
  );
}

const silence: Partial<Record<Firing["outcome"], string>> = {
  skipped: "A run of it was still going.",
  missed: "Nobody was there to start it.",
};
