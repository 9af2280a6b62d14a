import { Link } from "@tanstack/react-router";
import type { AuditEntry } from "../../../../server/domain/api-types/audit.ts";
import { Cell, Row, SecondLine } from "../../ui/data/table.tsx";
import { Time } from "../../ui/data/time.tsx";
import { auditPlace, auditTarget, auditWords, targetKind } from "./audit-actions.ts";
import { detailsLine } from "./details-line.ts";

interface AuditRowProps {
  entry: AuditEntry;
  /** Current name of an actor that is a person or a key. */
  name: string | undefined;
  /** Current name of a target that is a person or a key. */
  targetName: string | null | undefined;
  onActor: () => void;
  onTarget: () => void;
}

const kinds = { api_key: "API key", user: "Person", cli: "Command line" };

/** One audit entry: actor, action and target. */
export function AuditRow({ entry, name, targetName, onActor, onTarget }: AuditRowProps) {
  const { action, actor, target, created_at, project_id, environment, request_id } = entry;
  const who = name ?? (actor.type === "cli" ? "The command line" : actor.id);
  const { before, behind } = auditWords(action);
  const said = detailsLine(withoutName(entry));
  return (
    <Row stops>
      <Cell main>
        <span className="block wrap-anywhere text-ink" title={action}>
          {actor.type === "api_key" && "The API key "}
          <b className="font-strong">{who}</b> {before}
          {behind !== null && <Target entry={entry} name={targetName} />}
          {behind}
        </span>
        <SecondLine title={said || undefined}>{said || (request_id ?? "–")}</SecondLine>
      </Cell>
      <Cell className="min-w-0 max-rail:flex max-rail:basis-full max-rail:items-baseline max-rail:gap-2 rail:max-w-60">
        <FilterButton text={who} what={`Show only what ${who} did`} onClick={onActor} />
        <SecondLine>
          {kinds[actor.type]}
          {actor.ip && ` · ${actor.ip}`}
        </SecondLine>
      </Cell>
      <Cell className="min-w-0 max-rail:flex max-rail:flex-1 max-rail:items-baseline max-rail:gap-2 rail:max-w-50">
        {target ? (
          <>
            <FilterButton text={target.id} what={`Show only what was done to ${target.id}`} onClick={onTarget} />
            <SecondLine>{targetKind(target)}</SecondLine>
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

/** Details that the sentence does not contain. */
const withoutName = ({ action, details, ...entry }: AuditEntry): Record<string, unknown> => {
  const word = auditWords(action).behind === null ? null : auditTarget({ ...entry, details });
  return Object.fromEntries(Object.entries(details).filter(([, value]) => value !== word));
};

/** Target's name with a link to its page. */
function Target({ entry, name }: { entry: AuditEntry; name: string | null | undefined }) {
  const place = auditPlace(entry);
  const word = name ?? auditTarget(entry) ?? "something";
  if (place === null) return <b className="font-strong">{word}</b>;
  return (
    <Link to={place} className="relative font-medium text-accent hover:underline">
      {word}
    </Link>
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
