import { clsx } from "clsx";
import { Copy, OctagonX, RefreshCw, Settings2, Shield, Timer, Trash2 } from "lucide-react";
import type { ApiKey } from "../../../../server/domain/api-types/key.ts";
import { usePermission } from "../../entities/session/use-may.ts";
import { plural } from "../../lib/format.ts";
import { Badge } from "../../ui/data/badge.tsx";
import { copy } from "../../ui/data/copy.ts";
import { Cell, Row, RowActs, rowLink, SecondLine } from "../../ui/data/table.tsx";
import { Time } from "../../ui/data/time.tsx";
import { ActionsMenu } from "../../ui/dialogs/actions-menu.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { isExpiring } from "./find-keys.ts";
import { KeyExpiry } from "./key-expiry.tsx";
import { KeyPill } from "./key-pill.tsx";
import type { KeyRow as Entry } from "./key-rows.ts";
import { isUsable, type KeyState, keyState, shortKey } from "./key-state.ts";
import { type KeyAction, useKeyMaker } from "./use-key-acts.ts";

interface KeyRowProps {
  entry: Entry;
  /** The key that this one replaces. */
  predecessor: ApiKey | undefined;
  isLastAdmin: boolean;
  now: number;
  onAct: (act: KeyAction) => void;
}

/** A key in the list: its name, secret's ends, scopes, state, last use and expiry. */
export function KeyRow({ entry: { key, isNested, hasNested }, predecessor, isLastAdmin, now, onAct }: KeyRowProps) {
  const mayChange = usePermission("member");
  const isUnusable = !isUsable(key, now);
  const maker = useKeyMaker(key);
  const state = keyState(key, now);
  const cell = clsx("rail:h-13!", isUnusable && "text-faint", hasNested && "rail:border-b-transparent");
  return (
    <Row
      className={clsx(isNested && "max-rail:ml-6 max-rail:border-l-2 max-rail:border-l-accent-line")}
      data-key={key.id}
    >
      <Cell main className={clsx(cell, "max-rail:pr-28", isNested && "rail:pl-11!")}>
        {isNested && (
          <span
            aria-hidden
            className="absolute top-0 left-7 hidden h-6 w-2.5 rounded-bl-md border-b border-l border-line-control rail:block"
          />
        )}
        <button
          type="button"
          data-row
          title={key.name}
          onClick={() => onAct({ kind: "details", key })}
          className={clsx(rowLink, "w-full text-left font-medium", isUnusable && "text-faint!")}
        >
          {key.name}
        </button>
        <KeyLine apiKey={key} before={predecessor} hangs={isNested} isLastAdmin={isLastAdmin} now={now} />
      </Cell>
      <Cell className={clsx(cell, "whitespace-nowrap max-rail:w-full")}>
        <code>{shortKey(key)}</code>
      </Cell>
      <Cell className={cell}>
        <span className="flex gap-1">
          {key.scopes.map((scope) => (
            <Badge key={scope}>{scope}</Badge>
          ))}
        </span>
      </Cell>
      <Cell className={cell}>
        <KeyPill apiKey={key} />
      </Cell>
      <Cell className={clsx(cell, "whitespace-nowrap")}>
        {key.last_used_at ? <Time at={key.last_used_at} /> : <span className="text-muted">Not used yet</span>}
        {key.last_used_ip && <span className="text-xs text-muted max-rail:ml-1.5 rail:block">{key.last_used_ip}</span>}
      </Cell>
      <Cell folds className={clsx(cell, "whitespace-nowrap")}>
        <span className="rail:hidden">{isUnusable ? "" : "Expires "}</span>
        <KeyExpiry apiKey={key} now={now} />
      </Cell>
      <Cell folds className={clsx(cell, "whitespace-nowrap max-rail:hidden")}>
        <Time at={key.created_at} />
        <span className="block text-xs text-muted">{maker}</span>
      </Cell>
      <Cell right className={clsx(cell, "max-rail:absolute max-rail:top-1.5 max-rail:right-4 rail:w-px")}>
        <RowActs>
          {mayChange && state === "rotating" && (
            <Button size="sm" onClick={() => onAct({ kind: "end", key })}>
              End now<span className="sr-only">: {key.name}</span>
            </Button>
          )}
          {mayChange && (state === "active" || state === "exposed") && (
            <Button
              size="sm"
              kind={state === "exposed" ? "plain" : "ghost"}
              onClick={() => onAct({ kind: "rotate", key })}
            >
              Rotate<span className="sr-only"> {key.name}</span>
            </Button>
          )}
          <KeyMenu apiKey={key} state={state} isLastAdmin={isLastAdmin} onAct={onAct} />
        </RowActs>
      </Cell>
    </Row>
  );
}

/** The second line of a row: the key's restrictions, the key that it replaces, and warnings. */
function KeyLine({
  apiKey: key,
  before: predecessor,
  hangs: isNested,
  isLastAdmin,
  now,
}: {
  apiKey: ApiKey;
  before: ApiKey | undefined;
  hangs: boolean;
  isLastAdmin: boolean;
  now: number;
}) {
  const restrictions = [
    key.agent_ids && plural(key.agent_ids.length, "agent"),
    key.allowed_cidrs &&
      (key.allowed_cidrs.length === 1 ? key.allowed_cidrs[0] : plural(key.allowed_cidrs.length, "network")),
  ].filter(Boolean);
  const line = [
    isNested && predecessor && `Replaces …${predecessor.last4}`,
    restrictions.length > 0 && restrictions.join(" · "),
    isLastAdmin && "Only admin key, cannot be revoked",
    key.exposed_at && !isUsable(key, now) && "Was sent in clear text",
  ].filter(Boolean);
  const expires = isExpiring(key, now) && key.expires_at;
  if (line.length === 0 && !expires) return null;
  return (
    <SecondLine title={line.join(" · ")}>
      {restrictions.length > 0 && <Shield aria-hidden className="mr-1 inline size-3 align-[-2px]" strokeWidth={1.5} />}
      {line.join(" · ")}
      {expires && (
        <span className="hidden rail:max-full:inline">
          {line.length > 0 && " · "}Expires <KeyExpiry apiKey={key} now={now} />
        </span>
      )}
    </SecondLine>
  );
}

/** The menu of all actions on a key. */
function KeyMenu({
  apiKey: key,
  state,
  isLastAdmin,
  onAct,
}: {
  apiKey: ApiKey;
  state: KeyState;
  isLastAdmin: boolean;
  onAct: (act: KeyAction) => void;
}) {
  const mayChange = usePermission("member");
  const isEditable = mayChange && state !== "revoked" && state !== "expired";
  const ask = (kind: "details" | "rotate" | "overlap" | "end" | "revoke") => () => onAct({ kind, key });
  return (
    <ActionsMenu
      of={`${key.name} …${key.last4}`}
      acts={[
        { icon: Settings2, word: isEditable ? "Edit name and expiry" : "Show details", onDo: ask("details") },
        { icon: Copy, word: "Copy key id", onDo: () => void copy("Key id", key.id) },
        isEditable && state === "rotating" && { icon: Timer, word: "Change overlap", onDo: ask("overlap") },
        isEditable && state === "rotating" && { icon: OctagonX, word: "End overlap", onDo: ask("end") },
        isEditable && state !== "rotating" && { icon: RefreshCw, word: "Rotate key", onDo: ask("rotate") },
        isEditable && !isLastAdmin && { icon: Trash2, word: "Revoke key", danger: true, onDo: ask("revoke") },
      ]}
      remark={isEditable && isLastAdmin ? "The only admin key. Create another one before you revoke it." : undefined}
    />
  );
}
