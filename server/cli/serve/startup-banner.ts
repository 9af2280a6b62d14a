import type { DevelopmentAccess } from "../dev/development.ts";

/** Output of a start: as JSON for programs, as text for people. */
export interface StartupBanner {
  version: string;
  /** Address of the listener. */
  address: string;
  /** URLs for clients, as the link: at the public URL. */
  api_url: string;
  dashboard_url: string;
  /** Clients come by a proxy, and nothing says at which address. */
  needs_public_url: boolean;
  data_dir: string;
  /** CA file for clients of a self-signed certificate. */
  cacert: string | null;
  /** Port on which plain HTTP is refused, or null. */
  http_port: number | null;
  /** Only at the first start. */
  setup_link: string | null;
  project: string | null;
  keys: { test: string; live: string } | null;
  recovered_runs: number;
  /** Only of a server for development. */
  development?: DevelopmentAccess;
}

/** Placeholder for a proxy's unknown address: a command with it fails to resolve and sends no key. */
export const unknownAddress = "https://YOUR-ADDRESS";

/** Words of a command that a person copies. */
interface OwnCommand {
  /** Starts this program in the caller's folder. */
  program: string;
  /** Names its data directory if that is not the usual one; begins with a space. */
  flags: string;
}

/** Formats the start of a server for development. */
export function developmentBanner(greeting: StartupBanner, access: DevelopmentAccess, command: OwnCommand): string {
  const { version, api_url, address, dashboard_url, data_dir } = greeting;
  return `${[
    `runnel ${version}, for development: plain HTTP, on this machine alone`,
    "",
    `  API        ${api_url}`,
    `  Dashboard  ${dashboard_url}`,
    `  Data       ${data_dir}`,
    `  Test key   ${access.api_key}`,
    "",
    "  Sign in to the dashboard by this link (once, within 30 minutes):",
    `  ${access.sign_in_link}`,
    "",
    ...(access.agent === null
      ? []
      : [
          "  Run an agent, in another terminal in this folder:",
          `  ${command.program} run ${quote(access.agent)} "What can I do in Oslo today?"${command.flags}`,
          "",
        ]),
    "  For other programs:",
    `  export RUNNEL_URL=${address} RUNNEL_API_KEY=${access.api_key}`,
    "",
    `  For other machines and people there is HTTPS: ${command.program} serve${command.flags}`,
  ].join("\n")}\n`;
}

/** Formats the addresses; at the first start also the set-up link and the keys, which are shown once. */
export function startupBanner(greeting: StartupBanner): string {
  const { version, address, api_url, dashboard_url, data_dir, cacert, setup_link, keys, needs_public_url } = greeting;
  const lines = [
    `runnel ${version}`,
    "",
    `  API        ${api_url}`,
    `  Dashboard  ${dashboard_url}`,
    `  Data       ${data_dir}`,
    ...(cacert ? [`  CA file    --cacert ${cacert}`] : []),
  ];
  if (setup_link)
    lines.push("", "  Make your dashboard account by this link (once, within 30 minutes):", `  ${setup_link}`);
  if (keys)
    lines.push(
      "",
      `  Admin keys of the project "${greeting.project}", shown only now:`,
      `  test  ${keys.test}`,
      `  live  ${keys.live}`,
      "",
      "  Try it:",
      `  curl ${cacert ? `--cacert ${quote(cacert)} ` : ""}-H "Authorization: Bearer ${keys.test}" ${api_url}/me`,
    );
  const text = `${lines.join("\n")}\n`;
  if (!needs_public_url) return text;
  const why = `  Clients reach ${address} through your proxy. Start with --public-url, and its address stands here.`;
  return `${text.replaceAll(address, unknownAddress)}\n${why}\n`;
}

export const quote = (path: string): string =>
  /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
