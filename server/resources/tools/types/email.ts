import { Type } from "@sinclair/typebox";
import type { Fault } from "../../../domain/errors.ts";
import type { JsonSchema } from "../../../domain/model-call.ts";
import { fault } from "../../../http/errors.ts";
import { isAddressRule, readMailbox } from "../../../lib/mail-address.ts";
import * as t from "../../../lib/schema.ts";
import { addressField, mask, timeoutFaults, timeoutField, usualTimeout_ms } from "./fields.ts";
import { type Definition, type EmailDefinition, requireSettings, type ToolInput, type ToolKind } from "./tool-kind.ts";

export const fields = {
  smtp_url: t.about(
    "The mail server, without the password: `smtp://user@host:587` (STARTTLS is required) or `smtps://user@host:465`.",
    addressField,
  ),
  password: t.about(
    "The password of the mail server; `{{secret.NAME}}` stands for a secret. It is shown as `********`.",
    Type.String({ maxLength: 1024 }),
  ),
  from: t.about("The sender, such as `Support <support@example.com>`.", Type.String({ minLength: 3, maxLength: 320 })),
  allowed_recipients: t.about(
    "Addresses that may get mail, such as `ada@example.com` or `*@example.com`; null: every address.",
    t.orNull(Type.Array(Type.String({ minLength: 1, maxLength: 254 }), { maxItems: 100, uniqueItems: true })),
  ),
  timeout_ms: timeoutField,
};
export const response = {
  smtp_url: t.text,
  password: t.orNull(t.text),
  from: t.text,
  allowed_recipients: t.orNull(t.list(t.text)),
  timeout_ms: t.integer,
};

/** Sends e-mail by the project's own mail server. */
export const kind: ToolKind = {
  fields,
  response,
  faults: (input, before) => [...emailFaults(input, before), ...timeoutFaults(input)],
  change: (input, before) => ({ email: change(input, before?.email) }),
  show: ({ email }) => {
    const { has_password, ...shown } = requireSettings(email);
    return { ...shown, password: has_password ? mask : null };
  },
  // Not idempotent, because a mail that was sent twice is read twice.
  snapshot: (base, { email }, sealed) => {
    const { has_password, ...call } = requireSettings(email);
    return { ...base, type: "email", idempotent: false, http: null, email: { ...call, sealed } };
  },
  fixedParameters: () => parameters,
  sends: {
    field: "smtp_url",
    secretField: "password",
    signed: false,
    ownHeaders: [],
    to: ({ email }) => {
      const { smtp_url, has_password } = requireSettings(email);
      return { address: smtp_url, header_names: has_password ? ["password"] : [] };
    },
  },
};

const addresses = (description: string): JsonSchema => ({
  type: "array",
  items: { type: "string", maxLength: 254 },
  maxItems: 50,
  description,
});

const parameters: JsonSchema = {
  type: "object",
  properties: {
    to: { ...addresses("Addresses of the recipients."), minItems: 1 },
    cc: addresses("Addresses that get a copy."),
    subject: { type: "string", maxLength: 998, description: "The subject, on one line." },
    text: { type: "string", maxLength: 100_000, description: "The text of the mail, without markup." },
    file_ids: {
      type: "array",
      items: { type: "string", maxLength: 64 },
      maxItems: 10,
      description: "Ids of files to attach.",
    },
  },
  required: ["to", "subject", "text"],
  additionalProperties: false,
};

function change(input: ToolInput, before: EmailDefinition | undefined): EmailDefinition {
  return {
    smtp_url: input.smtp_url ?? before?.smtp_url ?? "",
    from: input.from ?? before?.from ?? "",
    allowed_recipients:
      input.allowed_recipients === undefined ? (before?.allowed_recipients ?? null) : input.allowed_recipients,
    timeout_ms: input.timeout_ms ?? before?.timeout_ms ?? usualTimeout_ms,
    has_password: input.password === undefined ? (before?.has_password ?? false) : input.password !== "",
  };
}

function emailFaults(input: ToolInput, before: Definition | null): Fault[] {
  const faults: Fault[] = [];
  for (const name of ["smtp_url", "from"] as const)
    if (input[name] === undefined && !before) faults.push(fault(name, `An e-mail tool needs ${name}.`, "required"));
  if (input.smtp_url !== undefined) faults.push(...serverFaults(input.smtp_url));
  if (input.from !== undefined && !readMailbox(input.from))
    faults.push(fault("from", "Must be an address, such as Support <support@example.com>."));
  for (const [i, rule] of (input.allowed_recipients ?? []).entries())
    if (!isAddressRule(rule)) faults.push(fault(`allowed_recipients[${i}]`, "Must be an address, or *@ and a domain."));
  if (input.parameters) faults.push(fault("parameters", "An e-mail tool has parameters of its own."));
  return faults;
}

function serverFaults(smtp_url: string): Fault[] {
  const url = URL.parse(smtp_url);
  if (!url || !["smtp:", "smtps:"].includes(url.protocol) || url.hostname === "")
    return [fault("smtp_url", "Must be smtp://user@host:587 or smtps://user@host:465.")];
  if (url.password !== "" || smtp_url.includes("{{secret."))
    return [fault("smtp_url", "Put the password into password: URLs are shown to everyone who can read tools.")];
  if (!["", "/"].includes(url.pathname) || url.search !== "" || url.hash !== "")
    return [fault("smtp_url", "Must have nothing after the host and port.")];
  return [];
}
