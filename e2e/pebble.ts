import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createCertificateAuthority } from "../server/testing/certificate-authority.ts";
import { freePort } from "../server/testing/free-port.ts";
import { patience_ms } from "./until.ts";

const programs = ["pebble", "pebble-challtestsrv"] as const;

/** Starts Let's Encrypt's test server in strict mode; every name resolves to this machine. */
export async function startPebble(folder: string) {
  const [acme, management, http, tls, dns, dnsManagement] = Array.from("123456", freePort);
  const authority = await createCertificateAuthority();
  const { cert, key } = await authority.issue({ names: ["localhost", "127.0.0.1"] });
  const path = (name: string) => join(folder, name);
  writeFileSync(path("pebble-cert.pem"), cert);
  writeFileSync(path("pebble-key.pem"), key);
  const pebble = {
    listenAddress: `127.0.0.1:${acme}`,
    managementListenAddress: `127.0.0.1:${management}`,
    certificate: path("pebble-cert.pem"),
    privateKey: path("pebble-key.pem"),
    httpPort: http,
    tlsPort: tls,
    ocspResponderURL: "",
  };
  writeFileSync(path("pebble.json"), JSON.stringify({ pebble }));
  const names = ["-defaultIPv4", "127.0.0.1", "-defaultIPv6", "", "-dns01", `127.0.0.1:${dns}`];
  const none = ["-http01", "", "-https01", "", "-tlsalpn01", "", "-management", `127.0.0.1:${dnsManagement}`];
  const start = (command: string[]) =>
    Bun.spawn(command, {
      env: { ...process.env, PEBBLE_VA_NOSLEEP: "1", PEBBLE_WFE_NONCEREJECT: "20" },
      stdio: ["ignore", "ignore", "ignore"],
    });
  const children = [
    start([programs[1], ...names, ...none]),
    start([programs[0], "-strict", "-config", path("pebble.json"), "-dnsserver", `127.0.0.1:${dns}`]),
  ];
  const get = (url: string) => fetch(url, { tls: { ca: authority.ca }, keepalive: false } as RequestInit);
  const directory = `https://127.0.0.1:${acme}/dir`;
  await answered(() => get(directory));
  return {
    directory,
    /** Verifies the directory's certificate. */
    ca: authority.ca,
    /** Port of its challenge requests. */
    httpPort: http,
    /** Returns the root of the issued certificates. */
    root: async (): Promise<string> => await (await get(`https://127.0.0.1:${management}/roots/0`)).text(),
    async [Symbol.asyncDispose]() {
      for (const child of children) child.kill();
      await Promise.all(children.map(({ exited }) => exited));
    },
  };
}

startPebble.available = programs.every((name) => Bun.which(name) !== null);

async function answered(ask: () => Promise<unknown>): Promise<void> {
  const end = performance.now() + patience_ms;
  while (!(await ask().catch(() => null))) {
    if (performance.now() > end) throw new Error("Pebble does not answer.");
    await Bun.sleep(50);
  }
}
