import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { Factors } from "../../../../server/domain/api-types/console.ts";
import { addPasskey, factorsQuery, removePasskey } from "../../entities/session/factor-api.ts";
import { Time } from "../../ui/data/time.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { PasswordAct } from "./password-act.tsx";

/** The person's own passkeys, with buttons that add and remove one. */
export function PasskeyList({ factors: { passkeys } }: { factors: Factors }) {
  const client = useQueryClient();
  const reread = () => client.invalidateQueries(factorsQuery);
  const removing = useMutation({ mutationFn: removePasskey, onSuccess: reread });
  return (
    <div className="flex flex-col items-start gap-4">
      <ErrorNote title="The passkey was not removed" error={removing.error} />
      {passkeys.length > 0 && (
        <ul aria-label="Passkeys" className="w-full">
          {passkeys.map(({ id, name, created_at, last_used_at }) => (
            <li
              key={id}
              className="flex flex-wrap items-center gap-2 border-t border-line-soft py-2.5 first:border-t-0 first:pt-0"
            >
              <div className="min-w-0 flex-1">
                <div className="cut font-medium">{name}</div>
                <div className="text-xs text-muted">
                  created <Time at={created_at} />
                  {last_used_at && (
                    <>
                      {" "}
                      · used <Time at={last_used_at} />
                    </>
                  )}
                </div>
              </div>
              <Button
                kind="danger-quiet"
                size="sm"
                disabled={removing.isPending}
                aria-label={`Remove the passkey ${name}`}
                onClick={() => removing.mutate(id)}
              >
                Remove
              </Button>
            </li>
          ))}
        </ul>
      )}
      <PasswordAct
        act="Add a passkey"
        nameLabel="Name of the passkey"
        send={(password, name) => addPasskey({ password, name })}
        onDone={() => void reread()}
      />
    </div>
  );
}
