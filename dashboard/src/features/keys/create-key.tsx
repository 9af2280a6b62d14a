import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import type { Permission as KeyScope } from "../../../../server/core/scope.ts";
import type { CreateKey as KeyOrder } from "../../../../server/keys/schema.ts";
import { keyApi, type MadeKey } from "../../entities/key/key-api.ts";
import { faultOf } from "../../lib/fault-of.ts";
import { useChanged } from "../../lib/use-changed.ts";
import { useNow } from "../../lib/use-now.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { ChoiceCards } from "../../ui/choice-cards.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Field } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { FoldedCode } from "../../ui/show-code.tsx";
import { type Expiry, expiryFault, expirySeconds } from "./expiry.ts";
import { ExpiryField } from "./expiry-field.tsx";
import { networkFault, readNetworks } from "./networks.ts";
import { Restrictions } from "./restrictions.tsx";

const grants = [
  {
    value: "run",
    label: "Run",
    hint: "Create, answer and cancel runs, upload files, write memory, and read what belongs to them.",
    scopes: ["run"],
  },
  { value: "read", label: "Read", hint: "Look at everything except keys. Changes nothing.", scopes: ["read"] },
  {
    value: "both",
    label: "Run and read",
    hint: "Both: for a server that also lists agents, tools and usage.",
    scopes: ["read", "run"],
  },
  {
    value: "admin",
    label: "Admin",
    hint: "Everything, keys included. Give it to deployment tools, not to servers.",
    scopes: ["admin"],
  },
] as const satisfies readonly { value: string; label: string; hint: string; scopes: readonly KeyScope[] }[];

/** Makes a key: what it is called, what it may do, how long, and from where. */
export function CreateKey({ onClose, onCreated }: { onClose: () => void; onCreated: (made: MadeKey) => void }) {
  const at = useWorkspace();
  const client = useQueryClient();
  const now = useNow(false);
  const field = useRef<HTMLInputElement>(null);
  const [name, setName] = useState("");
  const [grant, setGrant] = useState<(typeof grants)[number]["value"]>("run");
  const [expiry, setExpiry] = useState<Expiry>({ choice: "90d", date: "" });
  const [agents, setAgents] = useState<string[]>([]);
  const [networks, setNetworks] = useState("");
  const [tried, setTried] = useState(false);
  const creation = useMutation({
    mutationFn: (order: KeyOrder) => keyApi.create(at, order),
    onSuccess: (made) => {
      void client.invalidateQueries(keyApi.all(at));
      onCreated(made);
    },
  });
  const listed = readNetworks(networks);
  const faults = {
    name: name.trim() === "" ? "Give it a name." : faultOf(creation.error, "name"),
    date: expiryFault(expiry, now),
    networks: networkFault(listed) ?? faultOf(creation.error, "allowed_cidrs"),
  };
  const order: KeyOrder = {
    name: name.trim(),
    scopes: [...grants.find(({ value }) => value === grant)!.scopes],
    ...(expiry.choice !== "never" && !faults.date && { expires_in_seconds: expirySeconds(expiry, now) }),
    ...(agents.length > 0 && { agent_ids: agents }),
    ...(listed.length > 0 && { allowed_cidrs: listed }),
  };
  const submit = () => {
    setTried(true);
    if (name.trim() === "") field.current?.focus();
    else if (!faults.date && !networkFault(listed)) creation.mutate(order);
  };
  const isPlaced = Boolean(faults.name || faults.networks);
  const unsaved = useChanged([name, grant, expiry, agents, networks]) && !creation.isPending;
  return (
    <FormDialog
      open
      unsaved={unsaved}
      onOpenChange={(open) => !open && onClose()}
      title="Create key"
      about={
        <>
          For <b>{at.mode} data</b> of {at.project.name}. The secret is shown once.
        </>
      }
      act={creation.isPending ? "Creating key" : "Create key"}
      keep="Cancel"
      busy={creation.isPending}
      onSubmit={submit}
    >
      <Field
        ref={field}
        label="Name"
        value={name}
        maxLength={128}
        autoComplete="off"
        onChange={(event) => setName(event.target.value)}
        hint="Where it will run, so that you know what breaks if you revoke it."
        error={tried ? faults.name : null}
      />
      <ChoiceCards label="What may it do?" choices={grants} chosen={grant} onChoose={setGrant} />
      <ExpiryField label="Expires" expiry={expiry} now={now} showFault={tried} onChange={setExpiry} />
      <Restrictions
        agents={agents}
        networks={networks}
        fault={faults.networks}
        onAgents={setAgents}
        onNetworks={setNetworks}
      />
      <FoldedCode name="create key" request={{ method: "POST", path: "/v1/api_keys", body: order }} />
      {creation.error && !isPlaced && <ErrorNote title="The key was not created" error={creation.error} />}
    </FormDialog>
  );
}
