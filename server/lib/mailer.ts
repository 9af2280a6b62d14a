import type { Transporter } from "nodemailer";
import { isOwnHost } from "./ip-address.ts";
import { settledWithin } from "./settled-within.ts";

/** The operator's mail server, and whom mails are from. */
export interface MailSettings {
  /** `smtp://user:password@host:587` or `smtps://…:465`. */
  url: string;
  from: string;
}

type Transport = Pick<Transporter, "sendMail" | "verify">;

/** Sends mails of plain text. Throws where the server does not take one. */
export type Mailer = ReturnType<typeof createMailer>;

export function createMailer({ url, from }: MailSettings, whole_ms = 60_000) {
  const { protocol, hostname } = new URL(url);
  const patience = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 20_000 };
  // In clear text a mail with a link would be as good as an account for whoever stands between.
  const requireTLS = protocol === "smtp:" && !isOwnHost(hostname);
  /** A connection of its own: mails are few. */
  async function connected(work: (transport: Transport) => Promise<unknown>): Promise<void> {
    const { createTransport } = await import("nodemailer"); // A start does without.
    const transport = createTransport({ url, ...patience, requireTLS });
    try {
      // A server that says a little now and then is never silent for long.
      if (!(await settledWithin(whole_ms, work(transport))))
        throw new Error(`The mail server was not done within ${whole_ms / 1000} s.`);
    } finally {
      transport.close();
    }
  }

  return {
    send: (mail: { to: string; subject: string; text: string }) =>
      connected((transport) => transport.sendMail({ from, ...mail })),
    /** Throws where the server is not reached, or does not take the password. */
    verify: () => connected((transport) => transport.verify()),
  };
}
