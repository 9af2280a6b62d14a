import { availableParallelism } from "node:os";
import { type App, createApp } from "../app.ts";
import { createAccounts } from "../console/accounts.ts";
import { createDashboard } from "../console/assets.ts";
import { createLoginThrottle } from "../console/login-throttle.ts";
import { createPasswords } from "../console/password.ts";
import { createSetup, setupLink } from "../console/setup.ts";
import type { DataDir } from "../db/data-dir.ts";
import type { Db } from "../db/open.ts";
import { routable } from "../http/routable.ts";
import { dashboardDir } from "../lib/assets.ts";
import { build } from "../lib/build-info.ts";
import { type Certificate, ownCertificate, readCertificate } from "../lib/certificate.ts";
import { createJudge } from "../lib/egress-policy.ts";
import { createLog, type LogFormat } from "../lib/log.ts";
import { removeProxyEnvironment } from "../lib/proxy-environment.ts";
import { createSeal } from "../lib/seal.ts";
import { exitCodes, usageError } from "./exit-code.ts";
import { type Greeting, greetingText } from "./greeting.ts";
import { type ListenFlags, type ListenPlan, planListener, splitList } from "./listen-plan.ts";
import { openStorage, type Storage, type StorageFlags } from "./open-storage.ts";
import { print } from "./print.ts";
import { removeServerFile, writeServerFile } from "./server-file.ts";

export interface ServeFlags extends ListenFlags, StorageFlags {
  workers?: string;
  egressAllow?: string;
  keepExposedKeys?: boolean;
  log: LogFormat;
  json?: boolean;
}

const maxBody_bytes = 128 * 1024 * 1024; // The routes have limits of their own, which answer with an explanation.
const drain_ms = 10_000;

/** Serves until SIGTERM or SIGINT, and then ends the process. */
export async function serve(flags: ServeFlags): Promise<never> {
  removeProxyEnvironment();
  const plan = planListener(flags);
  const workers = readWorkers(flags.workers);
  const egress = { allow: splitList(flags.egressAllow), loopback: plan.loopback };
  createJudge(egress); // Throws for a rule that cannot be read, before anything is touched.
  const write = (line: string) => console.error(line);
  const told = signalTold();
  const storage = await openStorage(flags, createLog({ format: flags.log, write, secrets: secretsOf(process.env) }));
  const { dir, db, log } = storage;
  const certificate = await openCertificate(plan, dir);
  if (certificate && certificate.expires_at_ms < Date.now())
    log.warn("the certificate has expired", { path: certificate.path });

  const pages = await createDashboard({ folder: dashboardDir(), hsts: certificate?.self_signed === false });
  let listener: Bun.Server<undefined>;
  const app = createApp({
    db,
    seal: createSeal(storage.masterKey),
    log,
    environment: process.env,
    workers,
    egress,
    transport: {
      rules: { tls: certificate !== null, trustProxy: plan.trustProxy, insecureHttp: plan.insecureHttp },
      peerOf: (request) => listener.requestIP(request)?.address ?? null,
      keepExposedKeys: flags.keepExposedKeys ?? false,
    },
    storage,
    dashboard: { pages, secureCookie: !plan.insecureHttp, version: build.version },
  });
  await app.app.modules;

  const handle = (request: Request) => app.app.handle(routable(request));
  // The port comes first: a start that fails because it is taken may not count as a recovery of anybody's run. Requests
  // wait for the recovery, which would take the runs that they make for unfinished ones.
  const { promise: recovered, resolve: open } = Promise.withResolvers<void>();
  let isOpen = false;
  listener = listen(plan, certificate, (request) => (isOpen ? handle(request) : recovered.then(() => handle(request))));
  const recovered_runs = await app.recover();
  isOpen = true;
  open();

  const greeting = await greet({ plan, port: listener.port!, certificate, dir, db, app, recovered_runs });
  writeServerFile(dir.serverFile, { address: greeting.address, cacert: greeting.cacert, pid: process.pid });
  print(flags.json, greeting, () => greetingText(greeting));
  process.on("uncaughtException", (error) => log.error("an error reached nobody", { error }));
  process.on("unhandledRejection", (error) => log.error("a promise was rejected and nobody listened", { error }));
  log.info("stopping", { signal: await told });
  await stop({ listener, app, storage });
  log.info("stopped");
  process.exit(exitCodes.done); // What still runs is taken up by the next start, and may not delay this end.
}

/** Waits for a signal to stop; a second one ends the process at once. */
function signalTold(): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let signals = 0;
  for (const signal of ["SIGTERM", "SIGINT"] as const)
    process.on(signal, () => (++signals > 1 ? process.exit(exitCodes.failed) : resolve(signal)));
  return promise;
}

function listen(
  { host, port }: ListenPlan,
  certificate: Certificate | null,
  fetch: (request: Request) => Response | Promise<Response>,
): Bun.Server<undefined> {
  const tls = certificate && { cert: certificate.cert, key: certificate.key };
  const options = { hostname: host, port, fetch, idleTimeout: 30, maxRequestBodySize: maxBody_bytes };
  try {
    return Bun.serve({ ...options, development: false, ...(tls && { tls }) });
  } catch (error) {
    if ((error as { code?: string }).code === "EADDRINUSE")
      throw Object.assign(new Error(`Port ${port} of ${host} is taken. --port gives another one, 0 any free one.`), {
        code: "EADDRINUSE",
      });
    throw error;
  }
}

function openCertificate({ tls, host }: ListenPlan, dir: DataDir): Promise<Certificate> | Certificate | null {
  if (tls === null) return null;
  return tls === "own" ? ownCertificate(dir.tls, host) : readCertificate(tls.cert, tls.key);
}

function readWorkers(text: string | undefined): number {
  if (text === undefined) return Math.max(1, Math.floor(availableParallelism() / 2));
  if (!/^\d{1,3}$/.test(text)) throw usageError(`--workers takes a number of threads, not "${text}".`);
  return Number(text);
}

/** Values that no line of the log may hold. */
const secretsOf = (environment: Record<string, string | undefined>): string[] =>
  Object.entries(environment).flatMap(([name, value]) => (value && /_(API_)?KEY$/.test(name) ? [value.trim()] : []));

interface Started {
  plan: ListenPlan;
  port: number;
  certificate: Certificate | null;
  dir: DataDir;
  db: Db;
  app: App;
  recovered_runs: number;
}

async function greet({ plan, port, certificate, dir, db, app, recovered_runs }: Started): Promise<Greeting> {
  const address = `${certificate ? "https" : "http"}://${addressHost(plan.host)}:${port}`;
  const project = await app.projects.createDefault();
  const common = {
    version: build.version,
    address,
    api_url: `${address}/v1`,
    dashboard_url: `${address}/dashboard`,
    data_dir: dir.path,
    cacert: certificate?.self_signed ? certificate.path : null,
    recovered_runs,
  };
  if (!project) return { ...common, setup_link: null, project: null, keys: null };
  const key = async (environment: "test" | "live") => {
    const scope = { project_id: project.id, environment };
    return (await app.keys.create(scope, { name: "first start", scopes: ["admin"] }, "cli")).secret;
  };
  const accounts = createAccounts({ db, passwords: createPasswords(), throttle: createLoginThrottle() });
  const setup = createSetup({ db, accounts });
  const [test, live] = await Promise.all([key("test"), key("live")]);
  const setup_link = setup.required() ? setupLink(address, await setup.issue()) : null;
  return { ...common, setup_link, project: project.name, keys: { test, live } };
}

/** A host that a client on this machine can use: every address is no address. */
function addressHost(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "127.0.0.1";
  return host.includes(":") ? `[${host}]` : host;
}

interface Running {
  listener: Bun.Server<undefined>;
  app: App;
  storage: Storage;
}

async function stop({ listener, app, storage }: Running): Promise<void> {
  await app.stop();
  // Answers on their way get this long; then nothing is waited for, since a dead client would be waited for for ever.
  const { promise: late, resolve: giveUp } = Promise.withResolvers<void>();
  const timer = setTimeout(giveUp, drain_ms);
  await Promise.race([listener.stop(false), late]);
  clearTimeout(timer);
  await listener.stop(true);
  removeServerFile(storage.dir.serverFile);
  storage.close();
}
