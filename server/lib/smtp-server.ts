/** A mail server, as `smtp://user@host:587` or `smtps://user@host:465` names it. */
export interface SmtpServer {
  host: string;
  port: number;
  user: string;
  /** True if the connection begins with TLS; otherwise STARTTLS is required. */
  secure: boolean;
}

/** Reads the address of a mail server. Throws for an address that is none. */
export function smtpServer(address: string): SmtpServer {
  const { protocol, hostname, port, username } = new URL(address);
  const secure = protocol === "smtps:";
  return {
    host: hostname,
    port: port === "" ? (secure ? 465 : 587) : Number(port),
    user: decodeURIComponent(username),
    secure,
  };
}
