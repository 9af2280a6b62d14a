import type { ReactNode } from "react";
import { limits } from "../../../../server/core/limits.ts";
import type { ApiKey } from "../../../../server/wire/key.ts";
import { useAgentName } from "../../entities/agent/use-agent-name.ts";
import { formatDay } from "../../lib/format.ts";
import { useForm } from "../../lib/use-form.ts";
import { useNow } from "../../lib/use-now.ts";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Field } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { Time } from "../../ui/time.tsx";
import { toast } from "../../ui/toast.ts";
import { type Expiry, type ExpiryChoice, expiryEnd, expiryFault, expiryOptions } from "./expiry.ts";
import { ExpiryField } from "./expiry-field.tsx";
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
  const form = useForm({
    first: { name: key.name, end: { choice: "same", date: "" } as Expiry<ExpiryChoice | "same"> },
    send: async ({ name, end: { choice, date } }) => {
      const at = choice === "same" ? undefined : expiryEnd({ choice, date }, now);
      return change({
        ...(name.trim() !== key.name && { name: name.trim() }),
        ...(at !== undefined && { expires_at: at === null ? null : new Date(at).toISOString() }),
      });
    },
    onSent: ({ name }) => {
      toast("Key saved", name);
      onClose();
    },
  });
  const change = useChangeKey(key);
  const { name, end } = form.draft;
  const fault = end.choice === "same" ? null : expiryFault({ choice: end.choice, date: end.date }, now);
  const closed = () => {
    onClose();
    return true;
  };
  const same = key.expires_at ? `On ${formatDay(key.expires_at)}, as it is` : "Never, as it is";
  return (
    <FormDialog
      form={isOpen ? form : { submit: closed }}
      onClose={onClose}
      title={key.name}
      about={<code>{shortKey(key)}</code>}
      act={isOpen ? "Save key" : "Done"}
      ready={!isOpen || (name.trim() !== "" && !fault)}
      failed="The key was not saved"
    >
      {isOpen && <Field label="Name" maxLength={limits.name_length} autoComplete="off" {...form.text("name")} />}
      {isOpen && state !== "rotating" && (
        <ExpiryField<ExpiryChoice | "same">
          label="Expires"
          expiry={end}
          options={[{ value: "same", label: same }, ...expiryOptions(now)]}
          fault={end.date ? fault : null}
          onChange={(next) => form.set({ end: next })}
        />
      )}
      <Facts apiKey={key} now={now} />
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
