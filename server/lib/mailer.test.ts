import { expect, test } from "bun:test";
import { createMailer } from "./mailer.ts";

const mail = { to: "ada@example.com", subject: "Hello", text: "Hi" };

test("a mail server that never ends its response is given up", async () => {
  const drops: Timer[] = [];
  using server = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      open: (socket) => void socket.write("220 here\r\n"),
      data(socket) {
        drops.push(setInterval(() => socket.write("250-more\r\n"), 1));
      },
      close: () => drops.forEach(clearInterval),
    },
  });
  const settings = { url: `smtp://127.0.0.1:${server.port}`, from: "runnel@example.com" };
  await expect(createMailer(settings, 100).send(mail)).rejects.toThrow("not done within 0.1 s");
  await expect(createMailer(settings, 100).verify()).rejects.toThrow("not done within 0.1 s");
});
