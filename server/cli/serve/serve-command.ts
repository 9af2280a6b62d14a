import { Command, type Option } from "commander";
import { logFormats } from "../../lib/log.ts";
import { cellOption, clusterOption } from "../cluster/cluster-command.ts";
import { configOption, dataDirOption, jsonOption, option } from "../commands/option.ts";
import { sandboxFlags } from "./sandbox-flags.ts";
import { headingOf, type SettingGroup, settingGroups } from "./setting-groups.ts";
import type { ServeFlags } from "./settings.ts";

const asVariable = "Better as a variable: the process list shows flags";
const switchValues = ["on", "off"] as const;

/** Flags of `serve` by group. */
const flags: Record<SettingGroup, () => Option[]> = {
  "Address and TLS": () => [
    option("--host <address>", "IP address or name to listen on. 0.0.0.0 is every network interface", {
      defaultText: "127.0.0.1, which only this machine reaches; with --domain 0.0.0.0",
      example: "0.0.0.0",
    }),
    option("--port <number>", "port to listen on. 0 is any free one", {
      defaultText: "8443; with --domain 443",
      example: "8443",
    }),
    option("--public-url <origin>", "URL of the server for clients, browsers and links in mails, without a path", {
      defaultText: "the address that it listens on",
      example: "https://api.example.com",
    }),
    option(
      "--domain <list>",
      "public names of the server, separated by commas. Their certificate comes from Let's Encrypt, whose terms you accept by this",
      { example: "api.example.com" },
    ),
    option("--tls-cert <file>", "certificate file with its chain, in PEM format", {
      defaultText: "a self-signed certificate, made at the first start",
      example: "/etc/runnel/cert.pem",
    }),
    option("--tls-key <file>", "file with the private key of --tls-cert, in PEM format", {
      example: "/etc/runnel/key.pem",
    }),
    option("--acme-directory <url>", "certificate authority that --domain asks, by the URL of its ACME directory", {
      defaultText: "Let's Encrypt",
      example: "https://ca.example.com/acme/directory",
    }),
    option("--acme-email <address>", "e-mail address at which the certificate authority can reach you", {
      example: "ops@example.com",
    }),
    option("--acme-cacert <file>", "file with the root certificate of your own certificate authority, in PEM format", {
      example: "/etc/runnel/ca.pem",
    }),
    option(
      "--http-port <number>",
      "port that answers plain HTTP with an error, so that no key is sent there unnoticed",
      {
        defaultText: "none; with --domain 80, which the certificate authority checks",
        example: "8080",
      },
    ),
    option(
      "--trusted-proxies <list>",
      "addresses and networks of the reverse proxies that end TLS, separated by commas. Their X-Forwarded headers are believed",
      { example: "10.0.0.2,10.1.0.0/16" },
    ),
    option("--insecure-http", "serve plain HTTP without a certificate, on this machine only"),
  ],
  Data: () => [
    dataDirOption(),
    option(
      "--min-free-disk <size>",
      "free disk space below which new runs are refused: a size, or a percentage of the disk",
      {
        defaultText: "512MB, or 5% of a disk below 10GB",
        example: "2GB",
      },
    ),
    option(
      "--allow-network-filesystem",
      "start with a data directory on a network file system, where the database may be damaged",
    ),
    option("--audit-retention-days <n>", "days after which entries of the audit log are deleted. forever keeps all", {
      default: "365",
    }),
  ],
  Models: () => [],
  "Agents and tools": () => [
    option("--workers <n>", "threads that run agents. 0 runs them on the main thread", {
      defaultText: "one per two processor cores",
      example: "4",
    }),
    option(
      "--sandbox <level>",
      "isolation of code tools: auto is the best of this system, strict refuses to start without the full isolation, off runs no code",
      { choices: sandboxFlags, default: "auto" },
    ),
    option("--python <file>", "Python interpreter (CPython) for code tools, with its installed packages", {
      defaultText: "the built-in Python",
      example: "/usr/bin/python3",
    }),
    option(
      "--egress-allow <list>",
      "private addresses that tools may reach beside public ones, separated by commas: host, host:port, *.suffix or a network",
      { example: "10.0.0.7:8080,*.internal.example.com" },
    ),
    option("--proxy <url>", "HTTP proxy for requests to other machines, except those of NO_PROXY", {
      defaultText: "none; HTTP_PROXY is ignored",
      example: "http://proxy.example.com:3128",
    }),
  ],
  "Sign-in and keys": () => [
    option(
      "--local-accounts <switch>",
      "sign-in to the dashboard by password. With off, only the OpenID Connect provider remains",
      {
        choices: switchValues,
        default: "on",
      },
    ),
    option("--oidc-issuer <url>", "OpenID Connect provider at which people sign in to the dashboard", {
      example: "https://id.example.com",
    }),
    option("--oidc-client-id <id>", "client ID of this server at the provider", { example: "runnel" }),
    option("--oidc-client-secret <secret>", `client secret of this server at the provider. ${asVariable}`, {
      example: "client-secret",
    }),
    option("--oidc-name <text>", 'name of the provider on the sign-in button "Sign in with …"', {
      defaultText: "the provider's host name",
      example: "Example",
    }),
    option(
      "--oidc-role-claim <name>",
      "claim with a person's role: owner, member or viewer. A dot leads into an object",
      { example: "realm_access.roles" },
    ),
    option("--oidc-allowed-domains <list>", "domains of the e-mail addresses that may sign in, separated by commas", {
      defaultText: "all",
      example: "example.com",
    }),
    option(
      "--oidc-trust-email",
      "trust e-mail addresses of --oidc-allowed-domains that the provider does not mark as verified",
    ),
    option("--revoke-exposed-keys <switch>", "revoke a live API key that arrives in plain HTTP, without encryption", {
      choices: switchValues,
      default: "on",
    }),
  ],
  Mail: () => [
    option("--smtp-url <url>", `mail server for invitations and forgotten passwords. ${asVariable}`, {
      example: "smtps://user:password@mail.example.com:465",
    }),
    option("--mail-from <address>", "sender of these mails", { example: "runnel <runnel@example.com>" }),
  ],
  Backups: () => [
    option("--backup-to <url>", "S3 bucket and folder for regular backups. The access key is in AWS_ACCESS_KEY_ID", {
      example: "s3://bucket/runnel",
    }),
    option("--backup-every <time>", "time between two backups, such as 30m, 12h or 7d", { default: "24h" }),
    option("--backup-keep <n>", "number of backups to keep. Older ones are deleted", {
      defaultText: "all",
      example: "30",
    }),
  ],
  Cluster: () => [
    clusterOption(),
    cellOption(),
    option("--cluster-address <origin>", "URL of this server for the other servers of the cluster", {
      defaultText: "the address that it listens on",
      example: "https://10.0.0.5:8443",
    }),
    option(
      "--cluster-ttl <seconds>",
      "seconds without a sign of the leader after which another server takes over, from 1 to 60",
      {
        default: "3",
      },
    ),
  ],
  Monitoring: () => [
    option("--metrics-token <token>", `bearer token that lets other machines read /metrics. ${asVariable}`, {
      defaultText: "none; only this machine can read them",
    }),
    option("--otlp-endpoint <url>", "OpenTelemetry collector that receives a trace of every run", {
      example: "http://127.0.0.1:4318",
    }),
    option("--otlp-capture-content", "add prompts, answers, arguments and results of tools to these traces"),
  ],
  "Configuration and log": () => [
    configOption(),
    option("--log-format <format>", "format of the log, which goes to standard error", {
      choices: logFormats,
      default: "pretty",
    }),
    jsonOption(),
  ],
};

/** Creates `runnel serve`. `oldNames` are warnings about settings under their old names. */
export function serveCommand(oldNames: readonly string[] = []): Command {
  const command = new Command("serve").description("start the server");
  for (const group of settingGroups) {
    command.optionsGroup(headingOf(group));
    for (const flag of flags[group]()) command.addOption(flag);
  }
  return command
    .helpOption(true) // In the last group.
    .addHelpText(
      "after",
      `
Every flag is also a variable, and a key of a configuration file: "runnel init" writes one with all of them.

Examples:
  $ runnel serve
  $ runnel serve --config /etc/runnel/runnel.toml
  $ runnel serve --domain api.example.com --data-dir /var/lib/runnel
  $ runnel serve --host 0.0.0.0 --port 443 --tls-cert cert.pem --tls-key key.pem --data-dir /var/lib/runnel
  $ runnel serve --host 10.0.0.5 --port 8080 --trusted-proxies 10.0.0.2`,
    )
    .action(async (flags: ServeFlags) => await (await import("./serve.ts")).serve(flags, { oldNames }));
}
