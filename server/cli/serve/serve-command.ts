import { Command } from "commander";
import { logFormats } from "../../lib/log.ts";
import { cellOption, clusterOption } from "../cluster/cluster-command.ts";
import { configOption, dataDirOption, jsonOption, option } from "../commands/option.ts";
import { sandboxFlags } from "./sandbox-flags.ts";
import type { ServeFlags } from "./settings.ts";

export const serveCommand = (): Command =>
  new Command("serve")
    .description("start the server")
    .addOption(configOption())
    .addOption(option("--host <address>", "address to listen on (default: 127.0.0.1; with --domain 0.0.0.0)"))
    .addOption(option("--port <number>", "port to listen on; 0 is any free one (default: 8443; with --domain 443)"))
    .addOption(dataDirOption())
    .addOption(
      option(
        "--domain <names>",
        "names, with commas: gets a certificate for them from Let's Encrypt, whose terms you agree to by this",
      ),
    )
    .addOption(option("--acme-directory <url>", "another authority than Let's Encrypt"))
    .addOption(option("--acme-email <address>", "where the authority may write to"))
    .addOption(option("--acme-cacert <file>", "verifies the directory of an authority of your own"))
    .addOption(
      option(
        "--http-port <number>",
        "answers plain HTTP with a refusal (default: none; with --domain 80, for its check)",
      ),
    )
    .addOption(option("--tls-cert <file>", "certificate in PEM form; without it a self-signed one is made"))
    .addOption(option("--tls-key <file>", "the certificate's key"))
    .addOption(option("--trust-proxy <list>", "networks of the proxies that end TLS, with commas"))
    .addOption(option("--insecure-http", "plain HTTP, on loopback alone"))
    .addOption(option("--workers <n>", "threads that run agents; 0 is the main thread (default: one per two cores)"))
    .addOption(
      option("--egress-allow <list>", "host[:port],*.suffix,CIDR that tools may reach besides public addresses"),
    )
    .addOption(
      option(
        "--proxy <url>",
        "HTTP proxy to other machines, but for those of NO_PROXY (default: none, whatever HTTP_PROXY says)",
      ),
    )
    .addOption(
      option("--sandbox <level>", "auto, strict (no start without the full jail for code tools) or off", {
        choices: sandboxFlags,
        default: "auto",
      }),
    )
    .addOption(option("--python <file>", "an installed CPython with its packages for programs (default: the built-in)"))
    .addOption(
      option("--public-url <origin>", "where clients reach this server (default: the address that it listens on)"),
    )
    .addOption(
      option("--min-free-space <size>", "below this new runs are refused: 2GB, 5% (default: 512MB, or 5% if less)"),
    )
    .addOption(option("--allow-network-filesystem", "keep the data directory on a network disk: it may get damaged"))
    .addOption(option("--keep-exposed-keys", "do not revoke a live key that arrived in clear text"))
    .addOption(option("--backup-to <url>", "s3://bucket/folder that gets a backup, again and again"))
    .addOption(option("--backup-every <time>", "with --backup-to: how often", { default: "24h" }))
    .addOption(option("--backup-keep <n>", "with --backup-to: delete all but the newest there"))
    .addOption(option("--audit-days <n>", "days that the audit log is kept, or: forever", { default: "365" }))
    .addOption(clusterOption())
    .addOption(cellOption())
    .addOption(option("--cluster-address <origin>", "where other nodes reach it (default: where it listens)"))
    .addOption(option("--cluster-ttl <seconds>", "silence after which a leader is replaced", { default: "3" }))
    .addOption(option("--otlp-endpoint <url>", "an OpenTelemetry collector that gets the trace of every run that ends"))
    .addOption(option("--otlp-content", "the collector gets prompts, answers, arguments and results too"))
    .addOption(
      option(
        "--metrics-token <token>",
        "lets other machines read /metrics; the variable keeps it out of the process list",
      ),
    )
    .addOption(option("--oidc-issuer <url>", "people sign in at this OpenID Connect issuer"))
    .addOption(option("--oidc-client-id <id>", "what the issuer calls this server"))
    .addOption(
      option("--oidc-client-secret <secret>", "its secret there; the variable keeps it out of the process list"),
    )
    .addOption(option("--oidc-name <text>", 'the button says "Sign in with …" (default: the issuer\'s host)'))
    .addOption(option("--oidc-role-claim <name>", "the claim that says owner, member or viewer: roles, a.b"))
    .addOption(option("--oidc-domains <list>", "domains of mail addresses that may sign in, with commas"))
    .addOption(option("--oidc-trust-email", "addresses of these domains count where the issuer does not verify them"))
    .addOption(
      option("--local-accounts <switch>", "off: no user signs in by a password", {
        choices: ["on", "off"],
        default: "on",
      }),
    )
    .addOption(
      option(
        "--smtp-url <url>",
        "mail server for invitations and forgotten passwords; the variable hides its password",
      ),
    )
    .addOption(option("--mail-from <address>", "whom mails are from"))
    .addOption(
      option("--log <format>", "form of the log on standard error", { choices: logFormats, default: "pretty" }),
    )
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Examples:
  $ runnel serve
  $ runnel serve --config /etc/runnel/runnel.toml
  $ runnel serve --domain api.example.com --data-dir /var/lib/runnel
  $ runnel serve --host 0.0.0.0 --port 443 --tls-cert cert.pem --tls-key key.pem --data-dir /var/lib/runnel
  $ runnel serve --host 10.0.0.5 --port 8080 --trust-proxy 10.0.0.2`,
    )
    .action(async (flags: ServeFlags) => await (await import("./serve.ts")).serve(flags));
