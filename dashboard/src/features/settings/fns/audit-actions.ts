const done: Record<string, string> = {
  agent: "created updated deleted",
  tool: "created updated deleted tested",
  run: "cancelled answered deleted",
  trace: "imported deleted",
  thread: "deleted",
  memory: "created updated deleted",
  file: "created deleted",
  suite: "created updated deleted",
  api_key: "created updated rotated revoked",
  secret: "created updated deleted",
  webhook: "created updated deleted tested secret_rotated disabled",
  delivery: "redelivered",
  schedule: "created updated deleted disabled",
  project: "created updated archived unarchived deleted",
  model_connection: "saved removed tested",
  model_price: "set reset",
  backup: "created",
  invitation: "created withdrawn",
  user: "signed_in signed_out sign_in_failed created password_changed password_reset sessions_ended role_changed removed",
};

/** What the audit log can be filtered by: the actions that people look for. */
export const auditActions: string[] = Object.entries(done).flatMap(([what, words]) =>
  words.split(" ").map((word) => `${what}.${word}`),
);
