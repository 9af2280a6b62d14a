import { expect, test } from "bun:test";
import { startMailReceiver } from "../../testing/mail-receiver.ts";
import { oidcClient, startIssuer } from "../../testing/oidc-issuer.ts";
import { flagsFrom, settingChecks, settingFaults } from "./check-settings.ts";
import { serveCommand } from "./serve-command.ts";

const look = (check: keyof typeof settingChecks, environment: Record<string, string>) =>
  settingChecks[check]!(flagsFrom(serveCommand(), environment), environment);

test("an issuer that has another name or does not respond is reported", async () => {
  await using issuer = await startIssuer();
  const { clientId: RUNNEL_OIDC_CLIENT_ID, clientSecret: RUNNEL_OIDC_CLIENT_SECRET } = oidcClient;
  const client = { RUNNEL_OIDC_CLIENT_ID, RUNNEL_OIDC_CLIENT_SECRET, RUNNEL_PUBLIC_URL: "https://runs.example.com" };
  expect(await look("sign-in", {})).toBeNull();
  expect(await look("sign-in", { ...client, RUNNEL_OIDC_ISSUER: issuer.url })).toBe(
    `at ${issuer.url}, or by a password; it leads back to https://runs.example.com`,
  );
  expect(await look("sign-in", { ...client, RUNNEL_OIDC_ISSUER: issuer.url, RUNNEL_LOCAL_ACCOUNTS: "off" })).toBe(
    `at ${issuer.url}, no user by a password; it leads back to https://runs.example.com`,
  );
  using renamed = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: () => Response.json({ issuer: `${issuer.url}/realms/main` }),
  });
  await expect(look("sign-in", { ...client, RUNNEL_OIDC_ISSUER: `${renamed.url}realms/Main` })).rejects.toThrow(
    `${renamed.url}realms/Main cannot be used: It calls itself ${issuer.url}/realms/main.`,
  );
  for (const other of [`${issuer.url}/other`, "http://127.0.0.1:9"])
    await expect(look("sign-in", { ...client, RUNNEL_OIDC_ISSUER: other })).rejects.toThrow(
      `${other} cannot be used: `,
    );
});

test("a mail server is asked to accept the password, and no error shows it", async () => {
  await using mails = await startMailReceiver();
  const RUNNEL_MAIL_FROM = mails.settings.from;
  const { host } = new URL(mails.settings.url);
  expect(await look("mail", {})).toBeNull();
  const whole = { RUNNEL_MAIL_FROM, RUNNEL_SMTP_URL: mails.settings.url };
  expect(await look("mail", { ...whole, RUNNEL_DOMAIN: "runs.example.com" })).toBe(
    `from ${RUNNEL_MAIL_FROM} by ${host}; it leads back to https://runs.example.com`,
  );
  expect(await look("mail", { ...whole, RUNNEL_PORT: "8444" })).toEqual({
    result: "warn",
    detail: `from ${RUNNEL_MAIL_FROM} by ${host}; it leads back to https://127.0.0.1:8444, which only this machine reaches: set --public-url`,
  });
  const refused = look("mail", { RUNNEL_MAIL_FROM, RUNNEL_SMTP_URL: `smtp://runnel:canary@${host}` });
  await expect(refused).rejects.toThrow(new RegExp(`^${host} cannot be used: (?!.*canary)`));
});

test("a missing program that MCP tools need is reported", async () => {
  const here = { PATH: process.env.PATH!, RUNNEL_MCP_HERE_COMMAND: "sh -c true" };
  expect(await look("programs", {})).toBeNull();
  expect(await look("programs", here)).toBe("stdio:here");
  expect(await look("programs", { ...here, RUNNEL_MCP_AWAY_COMMAND: "no-such-program" })).toEqual({
    result: "warn",
    detail: "there is no program no-such-program, which stdio:away needs",
  });
});

test("the flags of serve are read from variables as serve does: empty ones, and switches that are off, are not set", () => {
  const environment = {
    RUNNEL_PORT: " ",
    RUNNEL_INSECURE_HTTP: "false",
    RUNNEL_OTLP_CAPTURE_CONTENT: "1",
    RUNNEL_HOST: "::1",
  };
  const flags = flagsFrom(serveCommand(), environment);
  expect(flags).toMatchObject({ host: "::1", otlpCaptureContent: true, dataDir: "./runnel-data", backupEvery: "24h" });
  expect([flags.port, flags.insecureHttp]).toEqual([undefined, undefined]);
  expect(environment.RUNNEL_INSECURE_HTTP).toBe("false"); // The caller's variables are not changed.
});

test.each<[Record<string, string>, string, boolean]>([
  [{ RUNNEL_TLS_CERT: "cert.pem" }, "--tls-cert and --tls-key belong together.", true],
  [{ RUNNEL_ACME_EMAIL: "a@b.example" }, "--acme-… flags say", true],
  [{ RUNNEL_LOCAL_ACCOUNTS: "off" }, "--local-accounts off needs an issuer", true],
  [{ RUNNEL_MAIL_FROM: "a@b.example" }, "without --smtp-url none is sent", true],
  [{ RUNNEL_BACKUP_TO: "s3://bucket/a" }, "The store needs AWS_ACCESS_KEY_ID", true],
  [{ RUNNEL_CLUSTER: "postgres://a:b@c/d" }, "the same RUNNEL_MASTER_KEY", true],
  [{ RUNNEL_PORT: "tcp://10.96.0.17:443" }, "enableServiceLinks: false", false],
  [{ RUNNEL_LOG_FORMAT: "xml" }, '--log-format takes one of pretty, json, not "xml".', false],
  [{ RUNNEL_MIN_FREE_DISK: "much" }, "--min-free-disk takes", false],
  [{ RUNNEL_CLUSTER: "mysql://c/d", RUNNEL_MASTER_KEY: "0".repeat(64) }, "--cluster takes", false],
  [{ RUNNEL_MASTER_KEY: "short" }, "RUNNEL_MASTER_KEY must hold", false],
  [{ OLLAMA_BASE_URL: "127.0.0.1:11434" }, "OLLAMA_BASE_URL takes", false],
])("%j prevents a start, and the fault is uncertain only if another setting is missing", (environment, said, lacks) => {
  expect(settingFaults(serveCommand(), environment)).toEqual([
    expect.objectContaining({ message: expect.stringContaining(said), isCertain: !lacks }),
  ]);
});

test("settings that are not set have no faults", () => {
  expect(settingFaults(serveCommand(), {})).toEqual([]);
});
