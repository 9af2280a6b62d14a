import { Link } from "@tanstack/react-router";
import type { AgentListItem as ListedAgent } from "../../../../server/wire/agent.ts";
import { useMay } from "../../entities/session/use-may.ts";
import { buttonClass } from "../../ui/button.tsx";
import { Cell, Row, RowActs, rowLink, SecondLine } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";

/** One agent of the list. The whole row opens it. */
export function AgentRow({ agent }: { agent: ListedAgent }) {
  const { id, name, description, model, tools_count, version, updated_at } = agent;
  const mayTry = useMay("member");
  return (
    <Row>
      <Cell main>
        <Link to="/agents/$agentId" params={{ agentId: id }} data-row title={name} className={rowLink}>
          {name}
        </Link>
        <SecondLine title={description ?? undefined}>{description || id}</SecondLine>
      </Cell>
      <Cell className="max-w-full">
        <code className="cut block rail:max-w-60" title={model}>
          {model}
        </code>
      </Cell>
      <Cell right>
        {tools_count}
        <span className="rail:hidden"> {tools_count === 1 ? "tool" : "tools"}</span>
      </Cell>
      <Cell right>v{version}</Cell>
      <Cell className="whitespace-nowrap rail:text-muted">
        <Time at={updated_at} />
      </Cell>
      <Cell right className="max-rail:ml-auto">
        <RowActs>
          {mayTry && (
            <Link
              to="/playground"
              search={{ agent: id }}
              className={buttonClass({ kind: "ghost", size: "sm" })}
              aria-label={`Try ${name} in the playground`}
            >
              Try
            </Link>
          )}
        </RowActs>
      </Cell>
    </Row>
  );
}
