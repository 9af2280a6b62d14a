/**
 * Measures the time from a clone to a first run for a person with node, npm, git and python3. It types the commands of
 * README.md, and then those of the server's `/docs`, and reads nothing else: `node scripts/run.mjs
 * scripts/bench/newcomer.ts`. It reports, and tests nothing; README.md has the figures. Caches of npm and pip are those
 * of this machine.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { withSettings } from "../../e2e/readme-reader.ts";
import { root } from "../root.ts";

const folder = mkdtempSync(join(tmpdir(), "runnel-newcomer-"));
const clone = join(folder, "runnel");
const started = performance.now();
const told = (what: string): void => console.log(`${((performance.now() - started) / 1000).toFixed(1)} s  ${what}`);

let server: Bun.Subprocess<"ignore", "pipe", "inherit"> | undefined;
try {
  await must(["git", "clone", "--quiet", root, clone], folder);
  const blocks = [...readFileSync(join(clone, "README.md"), "utf8").matchAll(/^```bash (\w+)\n([\s\S]*?)^```$/gm)];
  const [, , code] = blocks.find(([, kind]) => kind === "settings")!;
  server = Bun.spawn(["npm", "start"], { cwd: clone, stdin: "ignore", stdout: "pipe", stderr: "inherit" });
  const greeting = await untilServing(server.stdout);
  told("clone to the server's first words");

  const ca = join(clone, "runnel-data/tls/cert.pem");
  const [address] = /https:\/\/[\d.]+:\d+/.exec(greeting)!;
  const [key] = /sk_test_\w+/.exec(greeting)!;
  const env = { ...process.env, RUNNEL_URL: address, RUNNEL_API_KEY: key, RUNNEL_CACERT: ca, CURL_CA_BUNDLE: ca };
  writeFileSync(join(folder, "first.sh"), `set -eu\n${withSettings(code!, address, key)}`);
  await must(["bash", join(folder, "first.sh")], clone);
  told("clone to the first streamed events");

  const fetched = (path: string) => fetch(`${env.RUNNEL_URL}${path}`, { tls: { ca: readFileSync(ca, "utf8") } });
  const page = await (await fetched("/docs/start/quickstart.md")).text();
  const install = await (await fetched("/docs/start/install.md")).text();
  const wheel = /runnel_sdk-[\w.-]+\.whl/.exec(install)![0];
  await Bun.write(join(folder, wheel), await fetched(`/docs/clients/${wheel}`));
  await must(["python3", "-m", "venv", "venv"], folder);
  await must([join(folder, "venv/bin/pip"), "install", "--quiet", join(folder, wheel)], folder);
  const program = [...page.matchAll(/^```python\n([\s\S]*?)^```$/gm)].map(([, code]) => code).join("\n");
  writeFileSync(join(folder, "first.py"), program);
  await must([join(folder, "venv/bin/python"), "first.py"], folder, env);
  told("clone to the first run by the Python client");
} finally {
  const pid = await Bun.file(join(clone, "runnel-data/server.json"))
    .json()
    .then(({ pid }: { pid: number }) => pid)
    .catch(() => null);
  if (pid !== null) process.kill(pid);
  await server?.exited;
  rmSync(folder, { recursive: true, force: true });
}

async function must(command: string[], cwd: string, env: Record<string, string | undefined> = process.env) {
  const child = Bun.spawn(command, { cwd, env, stdin: "ignore", stdout: "ignore", stderr: "inherit" });
  if ((await child.exited) !== 0) throw new Error(`${command.join(" ")} failed`);
}

async function untilServing(output: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of output) {
    text += decoder.decode(chunk, { stream: true });
    if (/sk_live_\w+[\s\S]*\/me/.test(text)) break;
  }
  return text;
}
