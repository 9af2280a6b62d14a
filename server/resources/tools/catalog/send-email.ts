import { type CatalogEntry, listIn } from "./catalog-entry.ts";

export const entry: CatalogEntry = {
  title: "Send e-mail",
  description: "Sends e-mail by your mail server. A person approves each mail.",
  settings: {
    smtp_url: {
      title: "Mail server",
      description: "smtp://user@host:587 (STARTTLS) or smtps://user@host:465, without the password.",
      required: true,
    },
    password: { title: "Password", description: "The password of the mail server.", secret: true },
    from: { title: "Sender", description: "Such as Support <support@example.com>.", required: true },
    allowed_recipients: {
      title: "Allowed recipients",
      description: "Addresses, or *@example.com, with commas. Empty: every address.",
    },
  },
  tools: ({ smtp_url = "", password, from = "", allowed_recipients }) => [
    {
      name: "send_email",
      type: "email",
      description: "Sends an e-mail.",
      smtp_url,
      ...(password !== undefined && { password }),
      from,
      allowed_recipients: listIn(allowed_recipients) ?? null,
      approval: "always",
    },
  ],
};
