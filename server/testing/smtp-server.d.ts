// The package has no types; these are the parts that tests use.
declare module "smtp-server" {
  import type { Server } from "node:net";
  import type { Readable } from "node:stream";

  interface Session {
    envelope: { mailFrom: { address: string } | false; rcptTo: { address: string }[] };
    user?: string | false;
    /** True on an encrypted connection. */
    secure: boolean;
  }
  export class SMTPServer {
    constructor(options: {
      secure?: boolean;
      cert?: string;
      key?: string;
      authOptional?: boolean;
      disabledCommands?: string[];
      allowInsecureAuth?: boolean;
      onAuth?: (
        auth: { username?: string; password?: string },
        session: Session,
        callback: (error: Error | null, user?: { user: string }) => void,
      ) => void;
      onRcptTo?: (address: { address: string }, session: Session, callback: (error?: Error | null) => void) => void;
      onData: (stream: Readable, session: Session, callback: (error?: Error | null) => void) => void;
    });
    server: Server;
    listen(port: number, host: string, callback: () => void): void;
    close(callback: () => void): void;
    on(event: "error", listener: (error: Error) => void): void;
  }
}
