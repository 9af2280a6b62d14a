import { afterAll, beforeEach, expect, test } from "bun:test";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { selfSigned } from "../../lib/certificate.ts";

const folder = mkdtempSync(join(tmpdir(), "runnel-named-files-"));
// The usual umask. Opening a data directory, also in another test, restricts it for the whole process.
const umask = process.umask(0o022);
afterAll(() => {
  process.umask(umask);
  rmSync(folder, { recursive: true });
});
const [config, cert, key, data] = ["runnel.toml", "cert.pem", "key.pem", "data"].map((name) => join(folder, name)) as [
  string,
  string,
  string,
  string,
];
const main = join(import.meta.dir, "../../main.ts");
const pair = await selfSigned(["localhost"]);
const stranger = await selfSigned(["localhost"]);

beforeEach(() => {
  writeFileSync(cert, pair.cert);
  writeFileSync(key, pair.key);
});

interface Checked {
  code: number;
  said: string;
}

/** Runs `config check` on these settings; with `as`, as that user. */
function check(settings: Record<string, string>, more: string[] = [], as?: number): Checked {
  writeFileSync(
    config,
    Object.entries(settings)
      .map(([name, value]) => `${name} = ${JSON.stringify(value)}\n`)
      .join(""),
  );
  const user = as === undefined ? [] : ["setpriv", `--reuid=${as}`, `--regid=${as}`, "--clear-groups"];
  const { exitCode, stdout, stderr } = Bun.spawnSync(
    [...user, process.execPath, main, "config", "check", config, ...more],
    { cwd: folder, env: { PATH: process.env.PATH!, BUN_RUNTIME_TRANSPILER_CACHE_PATH: "0" } },
  );
  return { code: exitCode, said: `${stdout}${stderr}` };
}

const named = { "tls-cert": cert, "tls-key": key };

test("a matching pair, and a data directory that a start would create, are valid", () => {
  expect(check({ ...named, "data-dir": join(data, "deeper") })).toEqual({
    code: 0,
    said: `${config} is valid, with 3 settings.\n`,
  });
});

test.each<[string, Record<string, string>, () => void, string]>([
  [
    "a certificate that is not there",
    { ...named, "tls-cert": "gone.pem" },
    () => {},
    `--tls-cert gone.pem cannot be read: there is no file ${folder}/gone.pem.`,
  ],
  [
    "a key that is a folder",
    { ...named, "tls-key": folder },
    () => {},
    `--tls-key ${folder} cannot be read: it is a directory.`,
  ],
  [
    "a certificate that is none",
    named,
    () => writeFileSync(cert, "none"),
    `--tls-cert ${cert} holds no certificate in PEM form.`,
  ],
  [
    "a key that is none",
    named,
    () => writeFileSync(key, "none"),
    `--tls-key ${key} holds no key that can be used in PEM form.`,
  ],
  [
    "a key of another certificate",
    named,
    () => writeFileSync(key, stranger.key),
    `The certificate --tls-cert ${cert} does not belong to the key --tls-key ${key}.`,
  ],
  [
    "an authority that is none",
    { domain: "a.example.com", "acme-cacert": key },
    () => {},
    `--acme-cacert ${key} holds no certificate in PEM form.`,
  ],
  ["a data directory that is a file", { "data-dir": cert }, () => {}, `${cert} is not a directory.`],
  [
    "a data directory below a file",
    { "data-dir": join(cert, "data") },
    () => {},
    `${cert}/data cannot be made: ${cert} is not a directory.`,
  ],
])("%s is refused, with its setting and its file", (_, settings, damage, said) => {
  damage();
  expect(check(settings)).toEqual({ code: 2, said: `${config}:\n  ${said}\n` });
  expect(check(settings, ["--syntax-only"]).code).toBe(0);
});

test.skipIf(process.platform === "win32")("a data directory that other users can read is refused", () => {
  mkdirSync(data, { mode: 0o755 });
  expect(check({ "data-dir": data })).toEqual({
    code: 2,
    said: expect.stringContaining(`Others on this machine can look into ${data} (mode 755)`),
  });
});

test("all faults are reported at once: keys, values and files", () => {
  const { code, said } = check({
    prot: "1",
    "log-format": "xml",
    port: "any",
    "data-dir": cert,
    ...named,
    "tls-key": "gone",
  });
  expect(code).toBe(2);
  for (const fault of [
    "prot is no setting",
    "log-format takes one of",
    "--port takes a number",
    `${cert} is not a directory`,
  ])
    expect(said).toContain(fault);
});

// Only root can give a file to another user.
test.skipIf(process.getuid?.() !== 0)(
  "a path that only another user can read is reported neither as missing nor as a fault",
  () => {
    chmodSync(folder, 0o755);
    chownSync(folder, 65_534, 65_534);
    chmodSync(key, 0o600);
    expect(check({ ...named, "data-dir": "/root/runnel" }, [], 65_534)).toEqual({
      code: 0,
      said: [
        `${config} is valid, with 3 settings.`,
        "This user may not make /root/runnel: /root belongs to the user 0. Check it as the server's user.",
        `--tls-key ${key} cannot be read: this user may not read it, which belongs to the user 0 (mode 600). Check it as the server's user.`,
        "",
      ].join("\n"),
    });
  },
);

test("an expired certificate is only a warning, because a server starts with it", async () => {
  const old = await selfSigned(["localhost"], { now: Date.now() - 3 * 86_400_000, valid_ms: 86_400_000 });
  writeFileSync(cert, old.cert);
  writeFileSync(key, old.key);
  expect(check(named)).toEqual({
    code: 0,
    said: `${config} is valid, with 2 settings.\nThe certificate --tls-cert ${cert} has expired.\n`,
  });
});
