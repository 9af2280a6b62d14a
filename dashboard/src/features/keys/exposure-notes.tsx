import type { ApiKey } from "../../../../server/domain/api-types/key.ts";
import { Time } from "../../ui/data/time.tsx";
import { Callout } from "../../ui/feedback/callout.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { exposureWords } from "./exposure-words.ts";
import { isExposed, keyState } from "./key-state.ts";
import type { KeyAction } from "./use-key-acts.ts";

const remembered_ms = 7 * 86_400_000;

/** Warns of keys sent in clear text: keys that still work, and for a week keys that were revoked because of it. */
export function ExposureNotes({
  keys,
  now,
  lastAdmins,
  mayChange,
  onAct,
}: {
  keys: readonly ApiKey[];
  now: number;
  /** Ids of last admin keys, which cannot be revoked. */
  lastAdmins: ReadonlySet<string>;
  mayChange: boolean;
  onAct: (act: KeyAction) => void;
}) {
  const shown = keys.filter((key) => isExposed(key, now) || wasRevokedLately(key, now));
  if (shown.length === 0) return null;
  return (
    <div className="flex flex-col gap-2 px-4 py-3 rail:px-5">
      {shown.map((key) => (
        <Callout key={key.id} tone="bad" role="alert">
          <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
            <p className="min-w-60 flex-1">
              <b>“{key.name}” was sent in clear text</b> <Time at={key.exposed_at ?? key.created_at} />.{" "}
              {exposureWords(key, now)}
            </p>
            {mayChange && !key.revoked_at && (
              <span className="flex gap-2">
                {keyState(key, now) === "rotating" ? (
                  <Button size="sm" onClick={() => onAct({ kind: "end", key })}>
                    End overlap
                  </Button>
                ) : (
                  <Button size="sm" onClick={() => onAct({ kind: "rotate", key })}>
                    Rotate now
                  </Button>
                )}
                {!lastAdmins.has(key.id) && (
                  <Button size="sm" kind="danger-quiet" onClick={() => onAct({ kind: "revoke", key })}>
                    Revoke
                  </Button>
                )}
              </span>
            )}
          </div>
        </Callout>
      ))}
    </div>
  );
}

const wasRevokedLately = ({ exposure, revoked_at }: ApiKey, now: number): boolean =>
  exposure === "revoked" && revoked_at !== null && now - Date.parse(revoked_at) < remembered_ms;
