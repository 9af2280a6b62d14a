import { type ReactNode, useState } from "react";
import type { ApiKey } from "../../../../server/wire/key.ts";
import { useAgentName } from "../../entities/agent/use-agent-name.ts";
import { formatDay } from "../../lib/format.ts";
import { useChanged } from "../../lib/use-changed.ts";
import { useNow } from "../../lib/use-now.ts";
import { CopyButton } from "../../ui/copy-button.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Field } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { Select } from "../../ui/select.tsx";
import { Time } from "../../ui/time.tsx";
import { toast } from "../../ui/toast.ts";
import { type ExpiryChoice, expiryEnd, expiryFault, expiryOptions } from "./expiry.ts";
import { KeyExpiry } from "./key-expiry.tsx";
import { KeyPill } from "./key-pill.tsx";
import { keyState, shortKey } from "./key-state.ts";
import { useChangeKey } from "./use-change-key.ts";
import { useKeyMaker } from "./use-key-acts.ts";

/** All that is known of a key; its name and its end can be changed while it is in use. */
export function KeyDetails({
  apiKey: key,
  mayChange,
  onClose,
}: {
  apiKey: ApiKey;
  mayChange: boolean;
  onClose: () => void;
}) {
  const now = useNow(false);
  const state = keyState(key, now);
  const isOpen = mayChange && (state === "active" || state === "exposed" || state === "rotating");
  const [name, setName] = useState(key.name);
  const [end, setEnd] = useState<{ choice: ExpiryChoice | "same"; date: string }>({ choice: "same", date: "" });
  const change = useChangeKey(key, () => {
    toast("Key saved", name.trim());
    onClose();
  });
  const chosen = end.choice === "same" ? null : { choice: end.choice, date: end.date };
  const fault = chosen && expiryFault(chosen, now);
  const save = () => {
    if (!isOpen) return onClose();
    const at = chosen && expiryEnd(chosen, now);
    change.mutate({
      ...(name.trim() !== key.name && { name: name.trim() }),
      ...(chosen && { expires_at: at === null ? null : new Date(at).toISOString() }),
    });
  };
  const unsaved = useChanged([name, end]) && !change.isPending;
  return (
    <FormDialog
      open
      unsaved={unsaved}
      onOpenChange={(open) => !open && onClose()}
      title={key.name}
      about={<code>{shortKey(key)}</code>}
      act={isOpen ? "Save key" : "Done"}
      keep="Close"
      busy={change.isPending || (isOpen && (name.trim() === "" || Boolean(fault)))}
      onSubmit={save}
    >
      {isOpen && (
        <Field
          label="Name"
          value={name}
          maxLength={128}
          autoComplete="off"
          onChange={(event) => setName(event.target.value)}
        />
      )}
      {isOpen && state !== "rotating" && (
        <Select<ExpiryChoice | "same">
          label="Expires"
          value={end.choice}
          choices={[
            {
              value: "same",
              label: key.expires_at ? `On ${formatDay(key.expires_at)}, as it is` : "Never, as it is",
            },
            ...expiryOptions(now),
          ]}
          onChoose={(choice) => setEnd({ ...end, choice })}
        />
      )}
      {end.choice === "date" && (
        <Field
          label="Last day"
          type="date"
          value={end.date}
          hint="To the end of this day, by your clock."
          error={end.date ? fault : null}
          onChange={(event) => setEnd({ ...end, date: event.target.value })}
        />
      )}
      <Facts apiKey={key} now={now} />
      {change.error && <ErrorNote title="The key was not saved" error={change.error} />}
    </FormDialog>
  );
}

function Facts({ apiKey: key, now }: { apiKey: ApiKey; now: number }) {
  const maker = useKeyMaker(key);
  return (
    <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-6 gap-y-1.5">
      <Fact name="Id">
        <code className="cut">{key.id}</code>
        <CopyButton text={key.id} what="key id" />
      </Fact>
      <Fact name="Status">
        <KeyPill apiKey={key} />
      </Fact>
      <Fact name="Scope">{key.scopes.join(" and ")}</Fact>
      <Fact name="Expires">
        <KeyExpiry apiKey={key} now={now} />
      </Fact>
      <Fact name="Last used">
        {key.last_used_at ? <Time at={key.last_used_at} /> : "Not used yet"}
        {key.last_used_ip && <span className="ml-1.5 text-muted">from {key.last_used_ip}</span>}
      </Fact>
      <Fact name="Created">
        <Time at={key.created_at} />
        <span className="ml-1.5 text-muted">by {maker}</span>
      </Fact>
      {key.exposed_at && (
        <Fact name="Sent in clear text">
          <Time at={key.exposed_at} />
        </Fact>
      )}
      <Fact name="Agents">
        {key.agent_ids ? (
          <ul className="min-w-0">
            {key.agent_ids.map((id) => (
              <AgentName key={id} id={id} />
            ))}
          </ul>
        ) : (
          "All"
        )}
      </Fact>
      <Fact name="Networks">
        {key.allowed_cidrs ? <code className="wrap-anywhere">{key.allowed_cidrs.join(", ")}</code> : "All"}
      </Fact>
      {key.rotated_from && (
        <Fact name="Replaces">
          <code className="cut">{key.rotated_from}</code>
        </Fact>
      )}
      {key.rotated_to && (
        <Fact name="Replaced by">
          <code className="cut">{key.rotated_to}</code>
        </Fact>
      )}
    </dl>
  );
}

function AgentName({ id }: { id: string }) {
  const name = useAgentName(id);
  return (
    <li className="cut" title={`${name} ${id}`}>
      {name}
    </li>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-muted">{name}</dt>
      <dd className="flex min-w-0 flex-wrap items-center">{children}</dd>
    </>
  );
}
