import type { Transporter } from "nodemailer";
import { isOwnHost } from "./ip-address.ts";
import { settlesWithin } from "./with-timeout.ts";

/** The operator's mail server, and the sender of mails. */
export interface MailSettings {
  /** `smtp://user:password@host:587` or `smtps://…:465`. */
  url: string;
  from: string;
}

type Transport = Pick<Transporter, "sendMail" | "verify">;

/** Sends plain-text mails. Throws if the server refuses one. */
export type Mailer = ReturnType<typeof createMailer>;

export function createMailer({ url, from }: MailSettings, whole_ms = 60_000) {
  const { protocol, hostname } = new URL(url);
  const patience = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 20_000 };
  // In clear text, an eavesdropper could take over an account with the link of a mail.
  const requireTLS = protocol === "smtp:" && !isOwnHost(hostname);
  /** Opens a connection for each mail, because mails are few. */
  async function connected(work: (transport: Transport) => Promise<unknown>): Promise<void> {
    const { createTransport } = await import("nodemailer"); // Imported late, because the start does not need it.
    const transport = createTransport({ url, ...patience, requireTLS });
    try {
      // A server that sends a byte now and then never reaches the socket timeout.
      if (!(await settlesWithin(whole_ms, work(transport))))
        throw new Error(`The mail server was not done within ${whole_ms / 1000} s.`);
    } finally {
      transport.close();
    }
  }

  return {
    send: (mail: { to: string; subject: string; text: string }) =>
      connected((transport) => transport.sendMail({ from, ...mail })),
    /** Throws if the server is unreachable or refuses the password. */
    verify: () => connected((transport) => transport.verify()),
  };
}
