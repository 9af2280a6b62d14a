import { useQuery, useQueryClient } from "@tanstack/react-query";
import { isId } from "../../../../../server/domain/ids.ts";
import type { ImportTools, ToolImport } from "../../../../../server/resources/tools/import/schema.ts";
import { oauthClientApi } from "../../../entities/oauth/oauth-api.ts";
import { importTools, secretApi, setSecret } from "../../../entities/tool/tool-api.ts";
import { useForm } from "../../../hooks/use-form.ts";
import { serverFieldErrors } from "../../../lib/field-errors.ts";
import { useWorkspace } from "../../../lib/workspace.ts";
import { FormDialog } from "../../../ui/dialogs/form-dialog.tsx";
import { Callout } from "../../../ui/feedback/callout.tsx";
import { ErrorNote } from "../../../ui/feedback/error-note.tsx";
import { Combobox } from "../../../ui/forms/combobox.tsx";
import { Field } from "../../../ui/forms/field.tsx";
import { serverAddresses } from "./server-addresses.ts";

/**
 * `server`, `prefix`, and of each scheme `auth.NAME`: a secret's name, or an OAuth client's id, and `value.NAME`: the
 * value of a new secret.
 */
export type Settings = Record<string, string>;

type Scheme = ToolImport["security_schemes"][number];

const kindWords: Record<Scheme["type"], string> = {
  bearer: "Bearer token",
  basic: "Basic authentication",
  api_key: "API key",
  oauth2: "OAuth 2",
  openid_connect: "OpenID Connect",
  other: "Not supported",
};

/** True if a document leaves something to be chosen before its operations are. */
export const needsSettings = (plan: ToolImport): boolean =>
  plan.server === null || plan.servers.length > 1 || plan.security_schemes.some(isSendable);

const isSendable = ({ secret_holds }: Scheme): boolean => secret_holds !== null;
const authField = (name: string) => `auth.${name}`;
const valueField = (name: string) => `value.${name}`;

/** Asks for server, authentication and names, and previews the operations with them. */
export function SettingsDialog({
  plan,
  source,
  first,
  onBack,
  onRead,
}: {
  /** Preview of the document without settings. */
  plan: ToolImport;
  source: ImportTools;
  /** The entries of before; empty at first. */
  first: Settings;
  onBack: () => void;
  onRead: (settings: Settings, plan: ToolImport, order: ImportTools) => void;
}) {
  const at = useWorkspace();
  const client = useQueryClient();
  const secrets = useQuery(secretApi.every(at));
  const clients = useQuery(oauthClientApi.every(at));
  const schemes = plan.security_schemes;
  const usable = schemes.filter(isSendable);
  const isNew = (name: string) =>
    !isId("oauth_client", name) && secrets.data !== undefined && !secrets.data.some((each) => each.name === name);
  const form = useForm<Settings, { plan: ToolImport; order: ImportTools }>({
    first: () => ({
      server: plan.server ?? "",
      prefix: "",
      ...Object.fromEntries(
        usable.flatMap(({ name }) => [[authField(name), ""] as const, [valueField(name), ""] as const]),
      ),
      ...first,
    }),
    check: (draft) => ({
      server: /^https?:\/\/[^\s{}?#@]+$/i.test(draft.server?.trim() ?? "")
        ? null
        : "Must be an address such as https://api.example.com/v1, without login and query.",
      prefix: /^[\w-]{0,32}$/.test(draft.prefix ?? "") ? null : "Only letters, digits, _ and -, at most 32.",
      ...Object.fromEntries(
        usable.flatMap(({ name }) => {
          const secret = draft[authField(name)]?.trim() ?? "";
          if (secret === "") return [];
          if (!/^[A-Za-z_]\w{0,63}$/.test(secret))
            return [[authField(name), "A letter or _ first, then letters, digits and _."]];
          return isNew(secret) && draft[valueField(name)] === "" ? [[valueField(name), "Enter its value."]] : [];
        }),
      ),
    }),
    blame: (error, draft) =>
      serverFieldErrors(error, draft, (param) => param.replace(/\.(secret|oauth_client_id)$/, "")),
    send: async (draft) => {
      const chosen = usable.flatMap(({ name }) => {
        const secret = draft[authField(name)]?.trim();
        return secret ? [{ name, secret, value: draft[valueField(name)] ?? "" }] : [];
      });
      for (const { secret, value } of chosen) if (isNew(secret) && value !== "") await setSecret(at, secret, value);
      const { url, document } = source;
      const server = draft.server?.trim();
      const order: ImportTools = {
        ...(url !== undefined && { url }),
        ...(document !== undefined && { document }),
        ...(server && server !== plan.server && { server }),
        ...(draft.prefix && { prefix: draft.prefix }),
        ...(chosen.length > 0 && {
          auth: Object.fromEntries(
            chosen.map(({ name, secret }) => [
              name,
              isId("oauth_client", secret) ? { oauth_client_id: secret } : { secret },
            ]),
          ),
        }),
      };
      const next = await importTools(at, { ...order, dry_run: true });
      await client.invalidateQueries(secretApi.all(at));
      return { order, plan: next };
    },
    // Values of secrets are not kept once they are set.
    onSent: (sent, draft) =>
      onRead(
        { ...draft, ...Object.fromEntries(usable.map(({ name }) => [valueField(name), ""])) },
        sent.plan,
        sent.order,
      ),
  });
  return (
    <FormDialog
      form={form}
      onClose={onBack}
      title={plan.title || "Server and authentication"}
      about={[plan.version && `Version ${plan.version}`, `OpenAPI ${plan.openapi}`].filter(Boolean).join(", ")}
      keep="Back"
      act="Show operations"
      acting="Reading operations"
      failed="The operations cannot be shown"
    >
      <Combobox
        label="Server"
        placeholder="https://api.example.com/v1"
        hint={plan.server === null ? "The document names no server." : "One of the document, or another address."}
        items={serverAddresses(plan).map(({ url, description }) => ({
          value: url,
          aside: description && <span className="cut max-w-60 font-sans text-muted">{description}</span>,
        }))}
        {...form.suggest("server")}
      />
      {usable.map((scheme) => (
        <SchemeFields
          key={scheme.name}
          scheme={scheme}
          names={secrets.data?.map(({ name }) => name) ?? []}
          clients={(scheme.takes_oauth_client && clients.data) || []}
          secret={form.suggest(authField(scheme.name))}
          value={isNew(form.draft[authField(scheme.name)]?.trim() ?? "") ? form.text(valueField(scheme.name)) : null}
        />
      ))}
      {schemes.length > usable.length && (
        <Callout tone="info">
          Not supported:{" "}
          {schemes
            .filter((each) => !isSendable(each))
            .map(({ name }) => name)
            .join(", ")}
          . Operations that need it can be imported, and their headers changed afterwards.
        </Callout>
      )}
      <Field
        label="Prefix of the names (optional)"
        placeholder="pets_"
        hint="Put before the name of each new tool."
        autoComplete="off"
        spellCheck={false}
        {...form.text("prefix")}
      />
      <ErrorNote title="The secrets cannot be shown" error={secrets.error} />
      <ErrorNote title="The OAuth clients cannot be shown" error={clients.error} />
    </FormDialog>
  );
}

function SchemeFields({
  scheme: { name, type, in: place, parameter, secret_holds, suggested_secret, takes_oauth_client },
  names,
  clients,
  secret,
  value,
}: {
  scheme: Scheme;
  /** Names of the secrets that there are. */
  names: readonly string[];
  /** OAuth clients whose tokens the scheme takes. */
  clients: readonly { id: string; name: string }[];
  secret: { value: string | undefined; error?: string | null; onValue: (text: string) => void };
  /** Field of a new secret's value. */
  value: object | null;
}) {
  const kind = type === "api_key" ? `${kindWords[type]} in the ${place} ${parameter}` : kindWords[type];
  const entered = secret.value?.trim();
  return (
    <>
      <Combobox
        label={`${takes_oauth_client ? "OAuth client or secret" : "Secret"} for ${name} (optional)`}
        placeholder={suggested_secret}
        hint={[
          `${kind}.`,
          takes_oauth_client && "An OAuth client, whose tokens are sent, or a secret.",
          `The secret holds: ${secret_holds?.replace(/^\w/, (letter) => letter.toLowerCase())} An existing one, or the name of a new one.`,
        ]
          .filter(Boolean)
          .join(" ")}
        items={[
          ...clients.map(({ id, name: client }) => ({
            value: id,
            aside: <span className="cut max-w-60 font-sans text-muted">{client}</span>,
          })),
          ...names.map((each) => ({ value: each })),
        ]}
        {...secret}
        value={secret.value ?? ""}
      />
      {entered && value && (
        <Field
          label={`Value of ${entered}`}
          hint="There is no such secret yet. It is set now, and cannot be shown again."
          type="password"
          autoComplete="new-password"
          {...value}
        />
      )}
    </>
  );
}
