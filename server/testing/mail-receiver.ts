import type { AddressInfo } from "node:net";
import { SMTPServer } from "smtp-server";

/** A received mail, unparsed. */
interface Received {
  to: string[];
  text: string;
}

/** Starts a real SMTP server on loopback, which stores received mails. It requires a name and a password. */
export async function startMailReceiver() {
  const received: Received[] = [];
  let refusing = false;
  let told = Promise.withResolvers<void>();
  const server = new SMTPServer({
    disabledCommands: ["STARTTLS"],
    allowInsecureAuth: true,
    onAuth: ({ username, password }, _, callback) =>
      username === "runnel" && password === "p@ss" ? callback(null, { user: username }) : callback(new Error("Wrong")),
    async onData(stream, { envelope }, callback) {
      const chunks: Buffer[] = [];
      for await (const chunk of stream) chunks.push(chunk);
      if (refusing) return callback(new Error("Not now"));
      received.push({ to: envelope.rcptTo.map(({ address }) => address), text: Buffer.concat(chunks).toString() });
      callback();
      told.resolve();
    },
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.server.address() as AddressInfo;
  return {
    settings: { url: `smtp://runnel:p%40ss@127.0.0.1:${port}`, from: "runnel <runnel@example.com>" },
    received,
    refuse: (yes: boolean) => {
      refusing = yes;
    },
    /** Returns the next mail, and waits for it if necessary. */
    async next(): Promise<Received> {
      if (received.length === 0) await told.promise;
      told = Promise.withResolvers();
      return received.shift()!;
    },
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(resolve)),
  };
}
