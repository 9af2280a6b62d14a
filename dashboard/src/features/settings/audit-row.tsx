import type { AuditEntry } from "../../../../server/wire/audit.ts";
import { Cell, Row, SecondLine } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { detailsLine } from "./details-line.ts";

interface AuditRowProps {
  entry: AuditEntry;
  /** Of an actor who has an account. */
  email: string | undefined;
  onActor: () => void;
  onTarget: () => void;
}

const kinds = { api_key: "API key", user: "Person", cli: "Command line" };

/** One change: what, by whom, of which thing. */
export function AuditRow({ entry, email, onActor, onTarget }: AuditRowProps) {
  const { action, actor, target, details, created_at, project_id, environment, request_id } = entry;
  const said = detailsLine(details);
  return (
    <Row stops>
      <Cell main>
        <code className="cut block text-ink">{action}</code>
        <SecondLine title={said || undefined}>{said || (request_id ?? "–")}</SecondLine>
      </Cell>
      <Cell className="min-w-0 max-rail:flex max-rail:basis-full max-rail:items-baseline max-rail:gap-2 rail:max-w-60">
        <FilterButton text={email ?? actor.id} what={`Show only what ${email ?? actor.id} did`} onClick={onActor} />
        <SecondLine>
          {kinds[actor.type]}
          {actor.ip && ` · ${actor.ip}`}
        </SecondLine>
      </Cell>
      <Cell className="min-w-0 max-rail:flex max-rail:flex-1 max-rail:items-baseline max-rail:gap-2 rail:max-w-50">
        {target ? (
          <>
            <FilterButton text={target.id} what={`Show only what was done to ${target.id}`} onClick={onTarget} />
            <SecondLine>{target.type.replaceAll("_", " ")}</SecondLine>
          </>
        ) : (
          "–"
        )}
      </Cell>
      <Cell folds className="whitespace-nowrap max-rail:hidden">
        {project_id === null
          ? "Server"
          : environment === null
            ? "Test and live"
            : environment === "test"
              ? "Test"
              : "Live"}
      </Cell>
      <Cell right>
        <Time at={created_at} />
      </Cell>
    </Row>
  );
}

function FilterButton({ text, what, onClick }: { text: string; what: string; onClick: () => void }) {
  return (
    <button
      type="button"
      title={what}
      onClick={onClick}
      className="cut relative block max-w-full text-left text-xs text-ink hover:underline hover:underline-offset-2"
    >
      {text}
    </button>
  );
}
