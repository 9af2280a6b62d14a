import type { Role } from "../domain/api-types/enums.ts";
import type { Log } from "../lib/log.ts";
import type { Mailer } from "../lib/mailer.ts";

/** Mails to people. */
export type Mails = ReturnType<typeof createMails>;

export function createMails({ mailer, log, publicUrl }: { mailer: Mailer; log: Log; publicUrl: () => string }) {
  /** True if the mail server accepted it; a refusal is logged. */
  async function send(to: string, subject: string, lines: string[]): Promise<boolean> {
    try {
      await mailer.send({ to, subject, text: `${lines.join("\n\n")}\n` });
      return true;
    } catch (error) {
      log.warn("a mail was not sent", { subject, error });
      return false;
    }
  }

  return {
    invitation: ({ email, role, token }: { email: string; role: Role; token: string }): Promise<boolean> =>
      send(email, "You are invited to runnel", [
        `You were invited to the runnel at ${publicUrl()}, as ${role === "owner" ? "an owner" : `a ${role}`}.`,
        `Create your account here, within seven days:\n${publicUrl()}/dashboard/invite#${token}`,
        "The link works once. If you do not know what this is about, do nothing.",
      ]),

    reset: (email: string, token: string): Promise<boolean> =>
      send(email, "Reset your runnel password", [
        `A new password was requested for your account at ${publicUrl()}.`,
        `Set a new one here, within an hour:\n${publicUrl()}/dashboard/reset#${token}`,
        "The link works once. If it was not you, do nothing: your password stays as it is.",
      ]),
  };
}
