const done: Record<string, string> = {
  agent: "created updated deleted",
  tool: "created updated deleted tested refreshed",
  run: "cancelled answered forked replayed deleted",
  trace: "imported deleted",
  thread: "deleted",
  erasure: "requested",
  memory: "created updated deleted",
  memory_entry: "created updated deleted",
  file: "created retried deleted",
  suite: "created updated deleted",
  chat_page: "set rotated deleted",
  api_key: "created updated rotated revoked exposed",
  secret: "set deleted",
  webhook: "created updated deleted tested secret_rotated redelivered disabled",
  delivery: "redelivered",
  schedule: "created updated deleted disabled",
  project: "created updated archived unarchived deleted",
  model_connection: "saved removed tested",
  model_price: "set reset",
  backup: "created downloaded",
  invitation: "created withdrawn",
  setup_link: "issued",
  request: "refused",
  user:
    "signed_in signed_out sign_in_failed created linked password_changed password_reset sessions_ended role_changed removed " +
    "password_reset_asked totp_added totp_removed recovery_codes_renewed recovery_code_used passkey_added passkey_removed second_factor_removed",
};

/** What the audit log can be filtered by: every action that the server notes. */
export const auditActions: string[] = Object.entries(done).flatMap(([what, words]) =>
  words.split(" ").map((word) => `${what}.${word}`),
);
