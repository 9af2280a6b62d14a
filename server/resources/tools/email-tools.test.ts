import { expect, test } from "bun:test";
import { testApp } from "../../testing/test-app.ts";

const mail = {
  name: "send",
  type: "email",
  smtp_url: "smtp://runnel@mail.example.com:587",
  password: "mail-secret-password",
  from: "Support <support@example.com>",
};

test("the password of an e-mail tool is sealed, shown as stars, kept by them, and asked for again for another server", async () => {
  await using server = testApp();
  const client = await server.client();
  const { status, body: tool } = await client.post("/v1/tools", mail);
  expect(status).toBe(201);
  expect(tool).toMatchObject({ ...mail, password: "********", allowed_recipients: null, timeout_ms: 30_000 });
  for (const field of ["headers", "signing_secret", "url"]) expect(tool).not.toHaveProperty(field);
  const path = `/v1/tools/${tool.id}`;
  const sealed = () => server.db.sqlite.query<{ sealed: string }, []>("SELECT sealed FROM tools").get()?.sealed;
  const before = sealed();
  expect(before).not.toContain("mail-secret");
  expect((await client.patch(path, { from: "ada@example.com" })).body.password).toBe("********");
  expect(sealed()).toBe(before);
  const moved = await client.patch(path, { smtp_url: "smtp://runnel@evil.example.com:587" });
  expect([moved.status, moved.body.error.param]).toEqual([400, "password"]);
  const masked = await client.patch(path, { smtp_url: "smtp://runnel@evil.example.com:587", password: "********" });
  expect([masked.status, masked.body.error.param]).toEqual([400, "password"]);
  const changed = await client.patch(path, { smtp_url: "smtp://runnel@other.example.com:587", password: "new-secret" });
  expect([changed.status, changed.body.smtp_url]).toEqual([200, "smtp://runnel@other.example.com:587"]);
  expect((await client.patch(path, { password: "" })).body.password).toBeNull();
});

test("an e-mail tool that is set by its name keeps its password where stars are sent", async () => {
  await using server = testApp();
  const client = await server.client();
  const { name, ...body } = mail;
  const path = `/v1/tools/by-name/${name}`;
  expect((await client.put(path, body)).body).toMatchObject({ outcome: "created" });
  expect((await client.put(path, { ...body, password: "********" })).body).toMatchObject({ outcome: "unchanged" });
  expect((await client.put(path, body)).body).toMatchObject({ outcome: "unchanged" });
  expect((await client.put(path, { ...body, password: "other" })).body).toMatchObject({
    outcome: "updated",
    changes: ["password"],
  });
});

test.each<[string, object, string]>([
  ["without a mail server", { smtp_url: undefined }, "smtp_url"],
  ["without a sender", { from: undefined }, "from"],
  ["with a password in its address", { smtp_url: "smtp://a:b@mail.example.com" }, "smtp_url"],
  ["with a secret in its address", { smtp_url: "smtp://{{secret.A}}@mail.example.com" }, "smtp_url"],
  ["with an address of another protocol", { smtp_url: "https://mail.example.com" }, "smtp_url"],
  ["with a path in its address", { smtp_url: "smtp://mail.example.com/x" }, "smtp_url"],
  ["with two senders", { from: "a@example.com, b@example.com" }, "from"],
  ["with a header in its sender", { from: "A\r\nBcc: x@example.com <a@example.com>" }, "from"],
  ["with a recipient that is none", { allowed_recipients: ["*"] }, "allowed_recipients[0]"],
  ["with parameters", { parameters: { type: "object" } }, "parameters"],
  ["with headers", { headers: { a: "b" } }, "headers"],
  ["with a secret that does not exist", { password: "{{secret.NONE}}" }, "password"],
  ["with a time that is too short", { timeout_ms: 500 }, "timeout_ms"],
])("an e-mail tool %s is refused", async (_, change, param) => {
  await using server = testApp();
  const client = await server.client();
  const { status, body } = await client.post("/v1/tools", { ...mail, ...change });
  expect([status, body.error?.code, body.error?.param]).toEqual([400, "validation_failed", param]);
});

test("a mail server within the network is refused when the tool is created", async () => {
  await using server = testApp();
  const client = await server.client();
  const { status, body } = await client.post("/v1/tools", { ...mail, smtp_url: "smtp://10.0.0.1:25" });
  expect([status, body.error?.code, body.error?.param]).toEqual([403, "url_not_allowed", "smtp_url"]);
});
