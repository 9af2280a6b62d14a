import type { AuditEntry } from "../../../../server/domain/api-types/audit.ts";
import { pageOfId } from "../../entities/crud/place-of-id.ts";
import { capital } from "../../lib/format.ts";

/** Sentence of each audit action, following the actor's name; `{}` is the target. */
const sentences: Record<string, Record<string, string>> = {
  agent: { created: "created the agent {}", updated: "changed the agent {}", deleted: "deleted the agent {}" },
  label: {
    created: "created the label {}",
    updated: "changed the label {}",
    moved: "moved the label {}",
    rolled_back: "rolled the label {} back",
    deleted: "deleted the label {}",
  },
  tool: {
    created: "created the tool {}",
    updated: "changed the tool {}",
    deleted: "deleted the tool {}",
    tested: "tested the tool {}",
    refreshed: "refreshed the tools of the MCP server {}",
  },
  run: {
    cancelled: "cancelled the run {}",
    paused: "paused the run {}",
    resumed: "resumed the run {}",
    steered: "sent a message to the run {}",
    answered: "answered the run {}",
    forked: "forked the run {}",
    replayed: "replayed the run {}",
    deleted: "deleted the run {}",
  },
  tool_call: {
    approved: "approved a call of the tool {}",
    rejected: "rejected a call of the tool {}",
    resolved: "stated the result of a call of the tool {}",
  },
  trace: { imported: "imported the trace {}", deleted: "deleted the trace {}" },
  thread: { deleted: "deleted the thread {}" },
  erasure: { requested: "erased the data of the user {}" },
  memory: {
    created: "created the memory store {}",
    updated: "changed the memory store {}",
    deleted: "deleted the memory store {}",
  },
  memory_entry: {
    created: "added the memory entry {}",
    updated: "changed the memory entry {}",
    deleted: "deleted the memory entry {}",
  },
  file: { created: "uploaded the file {}", retried: "retried the file {}", deleted: "deleted the file {}" },
  suite: { created: "created the suite {}", updated: "changed the suite {}", deleted: "deleted the suite {}" },
  chat_page: {
    set: "set up the chat page of the agent {}",
    rotated: "replaced the link of the chat page of the agent {}",
    deleted: "closed the chat page of the agent {}",
  },
  api_key: {
    created: "created the API key {}",
    updated: "changed the API key {}",
    rotated: "rotated the API key {}",
    revoked: "revoked the API key {}",
    exposed: "reported the API key {} as exposed",
  },
  secret: { set: "set the secret {}", deleted: "deleted the secret {}" },
  skill: {
    created: "uploaded the skill {}",
    updated: "uploaded a version of the skill {}",
    deleted: "deleted the skill {}",
  },
  snippet: { created: "created the snippet {}", updated: "changed the snippet {}", deleted: "deleted the snippet {}" },
  webhook: {
    created: "created the webhook {}",
    updated: "changed the webhook {}",
    deleted: "deleted the webhook {}",
    tested: "sent a test event to the webhook {}",
    secret_rotated: "rotated the secret of the webhook {}",
    redelivered: "redelivered events to the webhook {}",
    disabled: "disabled the webhook {}",
  },
  delivery: { redelivered: "redelivered the delivery {}" },
  schedule: {
    created: "created the schedule {}",
    updated: "changed the schedule {}",
    deleted: "deleted the schedule {}",
    disabled: "disabled the schedule {}",
  },
  oauth_client: {
    created: "created the OAuth client {}",
    updated: "changed the OAuth client {}",
    deleted: "deleted the OAuth client {}",
  },
  oauth_grant: { created: "stored the OAuth grant {}", deleted: "deleted the OAuth grant {}" },
  trigger: {
    created: "created the trigger {}",
    updated: "changed the trigger {}",
    deleted: "deleted the trigger {}",
    secret_rotated: "rotated the secret of the trigger {}",
  },
  project: {
    created: "created the project {}",
    updated: "changed the project {}",
    archived: "archived the project {}",
    unarchived: "unarchived the project {}",
    deleted: "deleted the project {}",
    moved: "moved the project {} to another cell",
    move_undone: "left the project {} in its cell, as it could not be moved",
  },
  model_connection: {
    saved: "saved the model connection {}",
    updated: "changed the model connection {}",
    removed: "removed the model connection {}",
    tested: "tested the model connection {}",
    connected: "consented to the model connection {}",
  },
  model_price: { set: "set the price of {}", reset: "removed the custom price of {}" },
  price_table: { loaded: "replaced the list prices by those of {}", reset: "restored the built-in list prices" },
  backup: { created: "created the backup {}", downloaded: "downloaded the backup {}" },
  invitation: { created: "sent an invitation to {}", withdrawn: "withdrew the invitation {}" },
  setup_link: { issued: "issued a set-up link" },
  request: { refused: "made a request that was refused" },
  user: {
    signed_in: "signed in",
    signed_out: "signed out",
    sign_in_failed: "failed to sign in as {}",
    created: "created the account {}",
    linked: "linked {} with an identity provider",
    password_changed: "changed the password of {}",
    password_reset: "reset the password of {}",
    password_reset_asked: "requested a password reset for {}",
    sessions_ended: "ended sessions of {}",
    role_changed: "changed the role of {}",
    removed: "removed the account {}",
    totp_added: "added an authenticator for {}",
    totp_removed: "removed the authenticator of {}",
    recovery_codes_renewed: "generated new recovery codes for {}",
    recovery_code_used: "used a recovery code of {}",
    passkey_added: "added a passkey for {}",
    passkey_removed: "removed a passkey of {}",
    second_factor_removed: "removed the second factor of {}",
  },
};

/** All audit actions, for the filter. */
export const auditActions: string[] = Object.entries(sentences).flatMap(([resource, verbs]) =>
  Object.keys(verbs).map((word) => `${resource}.${word}`),
);

/** Text of an action before and after the target's name; `behind` is null if no target is named. */
export function auditWords(action: string): { before: string; behind: string | null } {
  const [what = "", verb = ""] = action.split(".");
  // Old logs may contain actions of earlier versions.
  const [before = "", behind = null] = (sentences[what]?.[verb] ?? `did ${action} to {}`).split("{}");
  return { before, behind };
}

/** Filter label of an action: its sentence without names, such as `Created agent`. */
export function actionWord(action: string): string {
  const { before, behind } = auditWords(action);
  const words = `${before.replace(/ (for|of|as|to) $/, "").trimEnd()}${behind ?? ""}`.replaceAll(" the ", " ").trim();
  return capital(words);
}

/** Name of the target at the time of the entry; null if unknown. */
export function auditTarget({ target, details }: Pick<AuditEntry, "target" | "details">): string | null {
  const { name, email, filename, host, tool } = details;
  const targetLabel = [name, email, filename, host, tool].find((each) => typeof each === "string" && each !== "");
  return (targetLabel as string | undefined) ?? target?.id ?? null;
}

/** Label of the target's type: `API key`, `Memory store`. */
export const targetKind = ({ type, id }: NonNullable<AuditEntry["target"]>): string =>
  type === "user" ? "Person" : (pageOfId(id)?.noun ?? capital(type.replaceAll("_", " ")));

const removalPattern = /\.(deleted|removed|revoked|withdrawn|reset)$/;

/** Path of the target below `/dashboard`; null if it has no page or was deleted by the action. */
export function auditPlace({
  action,
  target,
  details,
}: Pick<AuditEntry, "action" | "target" | "details">): string | null {
  if (!target || removalPattern.test(action)) return null;
  // A tool call is shown on its run's page.
  const id = target.type === "tool_call" ? String(details.run_id) : target.id;
  return pageOfId(id)?.path ?? null;
}
