import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { type App, type AppOptions, createApp } from "../../app.ts";
import { createAccounts } from "../../dashboard-api/accounts.ts";
import { createDashboard } from "../../dashboard-api/assets.ts";
import type { MakeBackup } from "../../dashboard-api/backups.ts";
import { createLoginThrottle } from "../../dashboard-api/login-throttle.ts";
import { createPasswords } from "../../dashboard-api/password.ts";
import { createSetup, setupLink } from "../../dashboard-api/setup.ts";
import type { SignInLinks } from "../../dashboard-api/sign-in-links.ts";
import type { Environment } from "../../domain/scope.ts";
import type { PublicUrl } from "../../http/errors.ts";
import { normalizeHost } from "../../http/normalize-host.ts";
import { dashboardDir } from "../../lib/assets.ts";
import { build } from "../../lib/build-info.ts";
import { createLog, silentLog } from "../../lib/log.ts";
import { interceptFetch } from "../../lib/outgoing-fetch.ts";
import { platform } from "../../lib/platform.ts";
import { applyProxy, proxySecrets } from "../../lib/proxy.ts";
import { createSeal } from "../../lib/seal.ts";
import { selfCommand } from "../../lib/self-command.ts";
import { createAudit } from "../../storage/db/audit.ts";
import type { DataDir } from "../../storage/db/data-dir.ts";
import { type Db, openDatabase } from "../../storage/db/open.ts";
import { removeServerFile, writeServerFile } from "../../storage/db/server-file.ts";
import { createNodeSeal } from "../../storage/replication/node-auth.ts";
import { type LeadingNode, leadNode, trustNodeOrigins } from "../cluster/cluster-node.ts";
import { clusterUnavailable } from "../cluster/cluster-unavailable.ts";
import { createLeaderCommands } from "../cluster/leader-commands.ts";
import { outsideCluster } from "../cluster/outside-cluster.ts";
import { cliActor } from "../commands/actor.ts";
import { exitCodes } from "../commands/exit-code.ts";
import { storesOf } from "../commands/open-data.ts";
import { print } from "../commands/print.ts";
import { tellSystemd } from "../commands/systemd.ts";
import type { Development, DevelopmentAccess } from "../dev/development.ts";
import { awaitSuccessor, handOver, takeOver } from "./handover.ts";
import { addressHere, addressOf, isBehindProxy, ownAddresses, ownNamesOf, rulesOf } from "./listen-plan.ts";
import type { Handle } from "./listener.ts";
import { type Listeners, openListeners } from "./listeners.ts";
import { mailSecrets } from "./mail-settings.ts";
import { openFilesAdvice, openFilesMax, openFilesNeeded } from "./open-files.ts";
import { openStorage, type Storage } from "./open-storage.ts";
import { otlpSecrets } from "./otlp-target.ts";
import { openSandbox } from "./sandbox-level.ts";
import { backUpRegularly, backupPlanOfCell, oldBackup_ms } from "./scheduled-backup.ts";
import { publicUrlFrom, readSettings, type ServeFlags, type Settings } from "./settings.ts";
import { shutdown } from "./shutdown.ts";
import { developmentBanner, quote, type StartupBanner, startupBanner, unknownAddress } from "./startup-banner.ts";

const firstCertificate_ms = 15_000;

interface ServeOptions {
  /** Warnings about old names of settings, for the log. */
  oldNames?: readonly string[];
  /** Makes it a server for the person who starts it. */
  development?: Development | null;
}

/** Serves until SIGTERM or SIGINT, then exits the process. */
export async function serve(
  flags: ServeFlags,
  { oldNames = [], development = null }: ServeOptions = {},
): Promise<never> {
  const settings = readSettings(flags, process.env);
  if (settings.proxy !== null) process.env.RUNNEL_PROXY = settings.proxy; // Threads and commands of this process read it there.
  applyProxy();
  const { plan, workers, cluster, programs, backupPlan } = settings;
  const publicUrlAt = publicUrlFrom(settings);
  const told = signalTold();
  const plainLog = createLog({
    format: flags.logFormat,
    write: (line) => console.error(line),
    secrets: secretsOf(process.env, flags, settings),
  });
  for (const warning of oldNames) plainLog.warn(warning);
  const compose = createComposer(settings, development?.signInLinks);
  const predecessor = await takeOver({
    plan,
    dataDir: flags.dataDir,
    log: plainLog,
    rehearse: (dir) => rehearse(compose, dir),
  });
  let node: LeadingNode | null = null;
  const lead =
    cluster &&
    (async (dir: DataDir) => {
      node = await leadNode({ cluster, plan, dir, log: plainLog, publicUrlAt, told });
      return node.lead.ship;
    });
  const storage = await openStorage({ ...flags, reserve: settings.reserve }, plainLog, lead ?? undefined);
  const { dir, db, log } = storage;
  const leading = node as LeadingNode | null;
  const routed = await leading?.lead.route(db.sqlite);
  await leading?.others?.share(db);
  if (leading) interceptFetch(leading.waysOut.requesting);
  // The port opens first: a start that fails because it is taken must not count as a recovery of runs. Requests wait
  // for the recovery, which would take the runs that they create for unfinished ones.
  const entrance =
    leading?.entrance ??
    (predecessor && trustNodeOrigins(predecessor.entrance, createNodeSeal(storage.masterKey))) ??
    (await openListeners(plan, dir, log).catch((error) => {
      storage.close();
      throw error;
    }));

  const sandbox = await openSandbox(flags.sandbox, flags.python, log).catch(async (error) => {
    await entrance.cut();
    storage.close();
    throw error;
  });
  const ownPlan =
    backupPlan && leading && !leading.isFirst ? backupPlanOfCell(backupPlan, leading.lead.cell) : backupPlan;
  const backups = ownPlan && backUpRegularly(ownPlan, { dataDir: dir.path, db, log });
  const app = compose({
    db,
    entrance,
    sandbox,
    dir,
    storage,
    backups,
    node: leading,
    seal: createSeal(storage.masterKey),
    log,
  });
  await app.app.modules;
  const few = openFilesAdvice(openFilesMax(), openFilesNeeded(workers, Object.keys(programs).length));
  if (few) log.warn(few);

  const recovered_runs = await app.recover();
  const movers = leading?.others?.movers({ db, moving: app.moving });
  const handle = createHandle({ app, db, dir, leading, movers, publicUrl: () => publicUrlAt(entrance.port) });
  const { personOf, staysSignedIn } = app;
  await movers?.mover.resume();
  entrance.letIn(
    leading?.others && movers && routed
      ? leading.others.lead({
          routes: routed,
          handle,
          mover: movers.mover,
          personOf,
          staysSignedIn,
          sure: leading.waysOut.waitUntilSynced,
        })
      : handle,
  );
  predecessor?.serving();
  const reached = {
    address: addressOf(plan, entrance.port),
    url: publicUrlAt(entrance.port),
    needs_public_url: isBehindProxy(plan) && settings.publicUrl === undefined,
  };
  const hands_over = platform.leadsConnections && process.pid !== 1 && !cluster; // A container ends with its process 1.
  let access: DevelopmentAccess | undefined;
  const tellCommands = (refused?: string) => {
    const serverFile = { cacert: cacertOf(entrance), api_key: access?.api_key, pid: process.pid, hands_over, refused };
    const { address, needs_public_url, url } = reached;
    const links = needs_public_url ? unknownAddress : url;
    const addresses = { address: isBehindProxy(plan) ? url : address, here: addressHere(plan, entrance.port), links };
    writeServerFile(dir.serverFile, { ...addresses, ...serverFile });
  };
  const successorReady = hands_over
    ? awaitSuccessor({ ports: entrance, predecessor, log, onRefused: tellCommands })
    : new Promise<never>(() => {});

  // Waits some seconds for a certificate, because the first link shown should be trusted by browsers.
  await Promise.race([entrance.certified, told, Bun.sleep(firstCertificate_ms)]);
  access = await development?.prepare({ app, db, dir, url: reached.address, log });
  const greeting = await greet({
    reached,
    entrance,
    dir,
    db,
    app,
    recovered_runs,
    localAccounts: settings.localAccounts,
    isFirst: leading?.isFirst ?? true,
    access,
  });
  tellCommands();
  sandbox.test();
  entrance.onRenewed(() => tellCommands());
  try {
    print(flags.json, greeting, () =>
      access ? developmentBanner(greeting, access, ownCommand(flags.dataDir)) : startupBanner(greeting),
    );
  } catch (error) {
    log.warn("the output of the start has no reader", { error }); // The parent may be gone; the server continues.
  }
  process.on("uncaughtException", (error) => log.error("an error was not caught", { error }));
  process.on("unhandledRejection", (error) => log.error("a rejected promise was not handled", { error }));
  if (access && !predecessor) development?.show(access);
  if (!development && existsSync(dir.developerKey))
    log.warn('the test key of "runnel dev" is valid here too; "runnel keys list --env test" shows it', {
      file: dir.developerKey,
    });
  tellSystemd("READY=1");
  const endWork = async () => void (await Promise.all([backups?.stop(), app.stop()]));
  const end = await Promise.race([told, successorReady]);
  if (typeof end === "string") {
    log.info("stopping", { signal: end });
    movers?.mover.stop();
    await shutdown({
      entrance,
      endWork,
      log,
      async leave() {
        removeServerFile(dir.serverFile);
        db.write.flush();
        await leading?.lead.leave();
      },
      close: storage.close,
    });
  } else {
    log.info("another process takes over", { pid: end.pid });
    await handOver({
      successor: end,
      entrance,
      masterKey: storage.masterKey,
      told,
      log,
      address: addressHere(plan, entrance.port),
      stop: endWork,
      close: storage.close,
      onServing: () => tellSystemd(`MAINPID=${end.pid}`),
    }).catch((error) => {
      log.error("the process that was to follow does not serve", { error });
      process.exit(exitCodes.failed);
    });
  }
  log.info("stopped");
  process.exit(exitCodes.done); // Remaining work is recovered by the next start and must not delay this exit.
}

/** Returns a function that creates the application with these settings. */
function createComposer(settings: Settings, signInLinks?: SignInLinks) {
  const { plan, egress, backupPlan, oidc, mail, localAccounts } = settings;
  const publicUrlAt = publicUrlFrom(settings);
  const pages = createDashboard({ folder: dashboardDir() });
  return ({ entrance, dir, backups, node, ...parts }: Parts): App =>
    createApp({
      ...parts,
      environment: process.env,
      workers: settings.workers,
      ordering: node?.waysOut.ordering,
      leadsUntil: node?.lead.ship.leadsUntil,
      egress: { ...egress, own: ownAddresses(plan, [entrance.port, entrance.httpPort], settings.publicUrl) },
      transport: {
        ...entrance,
        isOwnName: ownNamesOf(plan, entrance, settings.publicUrl),
        rules: rulesOf(plan),
      },
      database: dir.database,
      audit_days: settings.audit_days,
      keepExposedKeys: settings.keepExposedKeys,
      otlpTarget: settings.otlp,
      metricsToken: settings.metricsToken,
      cluster: node?.lead.ship.figures,
      personOf: node?.entrance.personOf,
      projectsElsewhere: node?.others?.projectsElsewhere,
      ...(node?.others && { connectionsAreCopies: !node.isFirst }),
      ...(backups &&
        backupPlan && {
          backups: backups.state,
          lastBackup: { made_ms: backups.newest_ms, most_ms: oldBackup_ms(backupPlan) },
        }),
      clusterStatus: node?.lead,
      failover: node?.lead.failover,
      certificateEnds: () => entrance.certificate()?.expires_at_ms ?? null,
      publicUrl: () => publicUrlAt(entrance.port),
      makeBackup: backUpApart(dir.path),
      dashboard: {
        pages,
        secureCookie: !plan.insecureHttp,
        version: build.version,
        oidc,
        mail,
        localAccounts,
        signInLinks,
        caFile: () => cacertOf(entrance),
      },
    });
}

/** Parts of an application that exist only after the data directory is open. */
interface Parts extends Pick<AppOptions, "db" | "seal" | "log"> {
  entrance: Pick<Listeners, "port" | "httpPort" | "certificate" | "isPlain" | "isVouchedFor" | "peerOf">;
  dir: DataDir;
  storage?: Storage;
  backups?: ReturnType<typeof backUpRegularly> | null;
  sandbox?: AppOptions["sandbox"];
  /** The node, if this is a leader in a cluster. */
  node?: LeadingNode | null;
}

interface Handling {
  app: App;
  db: Db;
  dir: DataDir;
  leading: LeadingNode | null;
  movers: ReturnType<NonNullable<LeadingNode["others"]>["movers"]> | undefined;
  publicUrl: PublicUrl;
}

/** Returns the request handler: the application, behind the messages of nodes and commands if this is a leader. */
function createHandle({ app, db, dir, leading, movers, publicUrl }: Handling): Handle {
  const serveRequest: Handle = (request) => app.app.fetch(normalizeHost(request));
  if (!leading) return serveRequest;
  const commands = createLeaderCommands({
    seal: leading.seal,
    stores: storesOf(db, dir),
    elsewhere: movers && leading.others?.command(movers.mover),
    move: movers?.mover.move,
    backups: app.backups,
  });
  const handle: Handle = async (request) =>
    (await movers?.receive(request)) ?? (await commands(request)) ?? (await serveRequest(request));
  return leading.waysOut.answering(handle, () => clusterUnavailable(publicUrl));
}

/**
 * Creates the application once on an empty database and sends it a request, so that its code is loaded: requests will
 * wait while it is created on the real database.
 */
async function rehearse(compose: (parts: Parts) => App, dir: DataDir): Promise<void> {
  const nowhere = { isPlain: () => false, isVouchedFor: () => false, peerOf: () => null, certificate: () => null };
  const entrance = { port: 0, httpPort: null, ...nowhere };
  const db = openDatabase(":memory:", { vecLibrary: dir.vecLibrary() });
  try {
    const { app } = compose({ db, entrance, dir, log: silentLog, seal: createSeal(randomBytes(32)) });
    await app.modules;
    await app.handle(new Request("http://localhost/v1/me"));
  } finally {
    db.close();
  }
}

/** Waits for a signal to stop; a second one exits at once. */
function signalTold(): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let signals = 0;
  for (const signal of ["SIGTERM", "SIGINT"] as const)
    process.on(signal, () => (++signals > 1 ? process.exit(exitCodes.failed) : resolve(signal)));
  return promise;
}

/** Returns the secrets that the log must not contain. */
const secretsOf = (
  environment: Record<string, string | undefined>,
  { metricsToken, oidcClientSecret, cluster }: ServeFlags,
  { otlp, mail, proxy, cluster: plan }: Settings,
): string[] => [
  ...Object.entries(environment).flatMap(([name, value]) =>
    value && /_((API_)?KEY|CLIENT_SECRET)$/.test(name) ? [value.trim()] : [],
  ),
  ...[metricsToken, oidcClientSecret, cluster].flatMap((secret) => (secret ? [secret] : [])),
  ...otlpSecrets(otlp),
  ...mailSecrets(mail),
  ...proxySecrets(proxy),
  ...(plan?.passwords ?? []),
];

interface Started {
  /** Address of the listener, and the URL for clients. */
  reached: Pick<StartupBanner, "address" | "needs_public_url"> & { url: string };
  entrance: Listeners;
  dir: DataDir;
  db: Db;
  app: App;
  recovered_runs: number;
  localAccounts: boolean;
  /** False in a cell whose accounts are in another cell. */
  isFirst: boolean;
  access: DevelopmentAccess | undefined;
}

async function greet(started: Started): Promise<StartupBanner> {
  const { reached, entrance, dir, db, app, recovered_runs, localAccounts, isFirst, access } = started;
  const { address, needs_public_url, url } = reached;
  const project = isFirst ? await app.projects.createDefault() : null;
  const common = {
    version: build.version,
    address,
    api_url: `${url}/v1`,
    dashboard_url: `${url}/dashboard`,
    needs_public_url,
    data_dir: dir.path,
    cacert: cacertOf(entrance),
    http_port: entrance.httpPort,
    recovered_runs,
  };
  const audit = createAudit({ db });
  const accounts = createAccounts({ db, audit, passwords: createPasswords(), throttle: createLoginThrottle() });
  const setup = createSetup({ db, audit, accounts, localAccounts });
  if (!project) {
    if (access) return { ...common, setup_link: null, project: null, keys: null, development: access };
    // Data of `runnel dev` have no account of a person yet.
    const isOfDevelopment = isFirst && (await accounts.endDeveloper());
    const token = isOfDevelopment && setup.required() ? await setup.issue(cliActor()) : null;
    return { ...common, setup_link: token && setupLink(url, token), project: null, keys: null };
  }
  const key = async (environment: Environment) => {
    const author = { project_id: project.id, environment, actor: cliActor() };
    return (await app.keys.create(author, { name: "first start", scopes: ["admin"] })).secret;
  };
  const setupToken = setup.required() ? setup.issue(cliActor()) : null;
  const [test, live, token] = await Promise.all([key("test"), key("live"), setupToken]); // Together, so that they share one commit.
  return { ...common, setup_link: token && setupLink(url, token), project: project.name, keys: { test, live } };
}

/** Returns the words that start this program on its data in the caller's folder, for people to copy. */
function ownCommand(dataDir: string): { program: string; flags: string } {
  const path = relative(process.cwd(), process.execPath);
  const isInPath = Bun.which("runnel") === process.execPath;
  const isBelow = !path.startsWith("..") && !isAbsolute(path);
  const program = isInPath ? "runnel" : quote(isBelow ? join(".", path) : process.execPath);
  const isUsual = resolve(dataDir) === resolve("runnel-data");
  return {
    program: isBelow && !isInPath && !program.includes(sep) ? `.${sep}${program}` : program,
    flags: isUsual ? "" : ` --data-dir ${quote(dataDir)}`,
  };
}

/** Returns the file that verifies a self-signed certificate; null for any other certificate. */
function cacertOf(entrance: Pick<Listeners, "certificate">): string | null {
  const certificate = entrance.certificate();
  return certificate?.self_signed ? certificate.path : null;
}

/**
 * Runs `runnel backup` in a separate process: copying a large database on the main thread would block all requests. The
 * master key is never included.
 */
const backUpApart =
  (dataDir: string): MakeBackup =>
  async (file) => {
    const { RUNNEL_INCLUDE_KEY: _, ...env } = outsideCluster(process.env);
    const command = selfCommand("backup", file, "--data-dir", dataDir, "--json");
    const child = Bun.spawn(command, { env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
    const [stdoutText, stderrText, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    if (code !== 0) throw new Error(`The backup failed: ${stderrText.trim().slice(0, 1000)}`);
    return JSON.parse(stdoutText) as { version: number };
  };
