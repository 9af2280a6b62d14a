/** What a start tells, to programs as it stands and to people as text. */
export interface Greeting {
  version: string;
  address: string;
  api_url: string;
  dashboard_url: string;
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

/** The addresses, and at the first start what is shown once: the set-up link and the keys. */
export function greetingText(greeting: Greeting): string {
  const { version, api_url, dashboard_url, data_dir, cacert, setup_link, keys } = greeting;
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
  return `${lines.join("\n")}\n`;
}

const quote = (path: string): string => (/^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`);
