import type { OAuthClient } from "../../../../server/domain/api-types/oauth.ts";
import { useRefresh } from "../../entities/crud/use-refresh.ts";
import { oauthClientApi } from "../../entities/oauth/oauth-api.ts";
import { RedirectAddress } from "../../entities/oauth/redirect-address.tsx";
import { type Fields, useForm } from "../../hooks/use-form.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { FormDialog } from "../../ui/dialogs/form-dialog.tsx";
import { Callout } from "../../ui/feedback/callout.tsx";
import { Field } from "../../ui/forms/field.tsx";
import { RadioCards } from "../../ui/forms/radio-cards.tsx";
import { SegmentedControl } from "../../ui/forms/segmented-control.tsx";
import { Select } from "../../ui/forms/select.tsx";
import { TextArea } from "../../ui/forms/text-area.tsx";
import {
  type ClientDraft,
  clientChanges,
  clientCreation,
  clientDraftOf,
  clientFaults,
  withoutSecret,
} from "./client-draft.ts";
import { type Actor, actorOf, actors } from "./client-words.ts";

const actorChoices = Object.entries(actors).map(([value, { label, hint }]) => ({ value: value as Actor, label, hint }));

/** Form that creates or edits an OAuth client. */
export function ClientForm({
  client,
  onClose,
  onDone,
}: {
  /** Absent for a new one. */
  client?: OAuthClient;
  onClose: () => void;
  onDone: (done: OAuthClient) => void;
}) {
  const at = useWorkspace();
  const refresh = useRefresh(oauthClientApi);
  const form = useForm({
    first: () => clientDraftOf(client),
    check: (draft) => clientFaults(draft, client),
    send: (draft): Promise<OAuthClient> =>
      client
        ? oauthClientApi.change(at, client.id, clientChanges(draft, client))
        : oauthClientApi.create(at, clientCreation(draft)),
    onSent: async (done) => {
      await refresh();
      onDone(done);
    },
  });
  const { draft, text, pick, set } = form;
  const isForUsers = draft.grant === "authorization_code";
  return (
    <FormDialog
      form={form}
      onClose={onClose}
      wide
      title={client ? "Edit OAuth client" : "Create OAuth client"}
      about={
        <>
          A registration of this project at an authorization server, for <b>{at.mode} data</b>.
        </>
      }
      act={client ? "Save OAuth client" : "Create OAuth client"}
      acting={client ? "Saving OAuth client" : "Creating OAuth client"}
      failed={`The OAuth client was not ${client ? "saved" : "created"}`}
      request={{
        method: client ? "PATCH" : "POST",
        path: client ? `/v1/oauth_clients/${client.id}` : "/v1/oauth_clients",
        body: withoutSecret(client ? clientChanges(draft, client) : clientCreation(draft)),
      }}
    >
      <Field label="Name" placeholder="Calendar" autoComplete="off" {...text("name")} />
      {client ? (
        <p className="text-muted">
          Acts for: <b>{actors[actorOf(client)].label}</b>. This cannot be changed.
        </p>
      ) : (
        <RadioCards
          label="Acts for"
          choices={actorChoices}
          chosen={actorOf(draft)}
          onChoose={(actor) => set(actors[actor].kind)}
        />
      )}
      {isForUsers && (
        <Callout tone="info">
          <p>Register this redirect address at the authorization server:</p>
          <RedirectAddress />
        </Callout>
      )}
      <ServerFields {...form} />
      <div className="grid gap-4 rail:grid-cols-2">
        <Field
          label="Client ID"
          hint="From the authorization server."
          autoComplete="off"
          spellCheck={false}
          {...text("client_id")}
        />
        <Field
          label={isForUsers ? "Client secret (optional)" : "Client secret"}
          type="password"
          autoComplete="new-password"
          hint={
            client?.has_client_secret
              ? "Stored, and never shown. Leave it empty to keep it."
              : "Stored encrypted and never shown again."
          }
          {...text("client_secret")}
        />
        <TextArea
          label="Scopes (optional)"
          mono
          rows={3}
          placeholder={"calendar.read\ncalendar.write"}
          hint="One per line."
          {...text("scopes")}
        />
        {isForUsers && (
          <TextArea
            label="Parameters of the consent (optional)"
            mono
            rows={3}
            placeholder="access_type=offline"
            hint="One name=value per line."
            {...text("authorization_params")}
          />
        )}
        <Select
          label="Client authentication"
          choices={[
            { value: "", label: "As the server supports" },
            { value: "client_secret_basic", label: "Secret in the header" },
            { value: "client_secret_post", label: "Secret in the body" },
            { value: "none", label: "None: a public client" },
          ]}
          {...pick("token_endpoint_auth_method")}
        />
        <Field
          label="Revocation URL (optional)"
          type="url"
          autoComplete="off"
          spellCheck={false}
          placeholder={draft.server === "issuer" ? "That of the issuer" : undefined}
          {...text("revocation_endpoint")}
        />
        <Field
          label="Resource (optional)"
          type="url"
          hint="For whom the tokens are (RFC 8707)."
          autoComplete="off"
          spellCheck={false}
          {...text("resource")}
        />
        <Field
          label="Audience (optional)"
          hint="The same, as some servers expect it."
          autoComplete="off"
          spellCheck={false}
          {...text("audience")}
        />
      </div>
      {client && (
        <p className="text-xs text-muted">
          With another server or client ID, the grants end, and you enter the secret again.
        </p>
      )}
      {form.fieldErrors.token_endpoint_auth_method && (
        <Callout tone="bad" role="alert">
          {form.fieldErrors.token_endpoint_auth_method}
        </Callout>
      )}
    </FormDialog>
  );
}

/** The authorization server: its issuer, or its addresses. */
function ServerFields({ draft, text, choose }: Fields<ClientDraft>) {
  return (
    <fieldset className="flex min-w-0 flex-col gap-3">
      <legend className="mb-1.5 font-medium">Authorization server</legend>
      <SegmentedControl
        name="oauth-server"
        label="Authorization server by"
        choices={[
          { value: "issuer", label: "Issuer" },
          { value: "endpoints", label: "URLs" },
        ]}
        {...choose("server")}
      />
      {draft.server === "issuer" ? (
        <Field
          label="Issuer"
          type="url"
          placeholder="https://accounts.example.com"
          hint="Its metadata has the other addresses."
          autoComplete="off"
          spellCheck={false}
          {...text("issuer")}
        />
      ) : (
        <div className="grid gap-4 rail:grid-cols-2">
          {draft.grant === "authorization_code" && (
            <Field
              label="Authorization URL"
              type="url"
              placeholder="https://accounts.example.com/authorize"
              autoComplete="off"
              spellCheck={false}
              {...text("authorization_endpoint")}
            />
          )}
          <Field
            label="Token URL"
            type="url"
            placeholder="https://accounts.example.com/token"
            autoComplete="off"
            spellCheck={false}
            {...text("token_endpoint")}
          />
        </div>
      )}
    </fieldset>
  );
}
