import { useQueryClient } from "@tanstack/react-query";
import { limits } from "../../../../server/domain/limits.ts";
import type { Permission as KeyScope } from "../../../../server/domain/scope.ts";
import type { CreateKey as KeyOrder } from "../../../../server/resources/keys/schema.ts";
import { type KeyWithSecret, keyApi } from "../../entities/key/key-api.ts";
import { useForm } from "../../hooks/use-form.ts";
import { useNow } from "../../hooks/use-now.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { FormDialog } from "../../ui/dialogs/form-dialog.tsx";
import { Field } from "../../ui/forms/field.tsx";
import { RadioCards } from "../../ui/forms/radio-cards.tsx";
import { type Expiry, expiryFault, expiryOptions, expirySeconds } from "./expiry.ts";
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
  { value: "read", label: "Read", hint: "Read everything except keys. Cannot change anything.", scopes: ["read"] },
  {
    value: "both",
    label: "Run and read",
    hint: "Both of the above. For a server that also lists agents, tools and usage.",
    scopes: ["read", "run"],
  },
  {
    value: "admin",
    label: "Admin",
    hint: "Everything, including keys. For deployment tools, not for servers.",
    scopes: ["admin"],
  },
] as const satisfies readonly { value: string; label: string; hint: string; scopes: readonly KeyScope[] }[];

const first = {
  name: "",
  grant: "run" as (typeof grants)[number]["value"],
  expiry: { choice: "90d", date: "" } as Expiry,
  agents: [] as string[],
  allowed_cidrs: "",
};

/** The form that creates a key: its name, permissions, expiry and restrictions. */
export function CreateKey({
  onClose,
  onCreated,
}: {
  onClose: () => void;
  onCreated: (createdKey: KeyWithSecret) => void;
}) {
  const at = useWorkspace();
  const client = useQueryClient();
  const now = useNow(false);
  const orderFrom = ({ name, grant, expiry, agents, allowed_cidrs }: typeof first): KeyOrder => {
    const cidrs = readNetworks(allowed_cidrs);
    return {
      name: name.trim(),
      scopes: [...grants.find(({ value }) => value === grant)!.scopes],
      ...(expiry.choice !== "never" && !expiryFault(expiry, now) && { expires_in_seconds: expirySeconds(expiry, now) }),
      ...(agents.length > 0 && { agent_ids: agents }),
      ...(cidrs.length > 0 && { allowed_cidrs: cidrs }),
    };
  };
  const form = useForm({
    first,
    check: ({ name, expiry, allowed_cidrs }) => ({
      name: name.trim() === "" ? "Enter a name." : null,
      expiry: expiryFault(expiry, now),
      allowed_cidrs: networkFault(readNetworks(allowed_cidrs)),
    }),
    send: (draft) => keyApi.create(at, orderFrom(draft)),
    onSent: (createdKey) => {
      void client.invalidateQueries(keyApi.all(at));
      onCreated(createdKey);
    },
  });
  const { draft, set } = form;
  return (
    <FormDialog
      form={form}
      onClose={onClose}
      title="Create key"
      about={
        <>
          For <b>{at.mode} data</b> of {at.project.name}. The secret is shown once.
        </>
      }
      act="Create key"
      acting="Creating key"
      failed="The key was not created"
      request={{ method: "POST", path: "/v1/api_keys", body: orderFrom(draft) }}
    >
      <Field
        label="Name"
        maxLength={limits.name_length}
        autoComplete="off"
        hint="Where the key is used, so you know what breaks if you revoke it."
        {...form.text("name")}
      />
      <RadioCards label="Permissions" choices={grants} {...form.choose("grant")} />
      <ExpiryField
        label="Expires"
        expiry={draft.expiry}
        options={expiryOptions(now)}
        fault={form.fieldErrors.expiry}
        onChange={(expiry) => set({ expiry })}
      />
      <Restrictions {...form} />
    </FormDialog>
  );
}
