/** What a start tells, to programs as it stands and to people as text. */
export interface Greeting {
  version: string;
  /** Where it listens. */
  address: string;
  /** These two, and the link, as clients reach them: at the public URL. */
  api_url: string;
  dashboard_url: string;
  /** Clients come by a proxy, and nothing says at which address. */
  needs_public_url: boolean;
  data_dir: string;
  /** The file that clients of a self-signed certificate are given to trust. */
  cacert: string | null;
  /** Where plain HTTP is refused, if anywhere. */
  http_port: number | null;
  /** Only at the first start. */
  setup_link: string | null;
  project: string | null;
  keys: { test: string; live: string } | null;
  recovered_runs: number;
}

/** Stands for the address of a proxy that is not known: a command with it fails by its name, and sends no key. */
export const unknownAddress = "https://YOUR-ADDRESS";

/** The addresses, and at the first start what is shown once: the set-up link and the keys. */
export function greetingText(greeting: Greeting): string {
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

const quote = (path: string): string => (/^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`);
