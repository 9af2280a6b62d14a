import { randomBytes } from "node:crypto";
import { type App, type AppOptions, createApp } from "../app.ts";
import { createNodeSeal } from "../cluster/between-nodes.ts";
import { createAccounts } from "../console/accounts.ts";
import { createDashboard } from "../console/assets.ts";
import type { MakeBackup } from "../console/backups.ts";
import { createLoginThrottle } from "../console/login-throttle.ts";
import { createPasswords } from "../console/password.ts";
import { createSetup, setupLink } from "../console/setup.ts";
import { createAudit } from "../db/audit.ts";
import type { DataDir } from "../db/data-dir.ts";
import { type Db, openDatabase } from "../db/open.ts";
import type { PublicUrl } from "../http/errors.ts";
import { routable } from "../http/routable.ts";
import { dashboardDir } from "../lib/assets.ts";
import { build } from "../lib/build-info.ts";
import { createLog, silentLog } from "../lib/log.ts";
import { ownCommand } from "../lib/own-command.ts";
import { platform } from "../lib/platform.ts";
import { applyProxy, proxySecrets } from "../lib/proxy.ts";
import { createSeal } from "../lib/seal.ts";
import { cliActor } from "./actor.ts";
import { clusterAway } from "./cluster-away.ts";
import { believingNodes, type LeadingNode, leadNode } from "./cluster-node.ts";
import { type Entrance, openEntrance } from "./entrance.ts";
import { exitCodes } from "./exit-code.ts";
import { type Greeting, greetingText, unknownAddress } from "./greeting.ts";
import { awaitSuccessor, handOver, takeOver } from "./handover.ts";
import { createLeaderCommands } from "./leader-commands.ts";
import { addressHere, addressOf, isBehindProxy, ownAddresses, ownNamesOf, rulesOf } from "./listen-plan.ts";
import type { Handle } from "./listener.ts";
import { mailSecrets } from "./mail-settings.ts";
import { storesOf } from "./open-data.ts";
import { openFilesAdvice, openFilesMax, openFilesNeeded } from "./open-files.ts";
import { openStorage, type Storage } from "./open-storage.ts";
import { otlpSecrets } from "./otlp-target.ts";
import { outsideCluster } from "./outside-cluster.ts";
import { print } from "./print.ts";
import { openSandbox } from "./sandbox-level.ts";
import { backUpRegularly, ofFurtherCell, oldBackup_ms } from "./scheduled-backup.ts";
import { removeServerFile, writeServerFile } from "./server-file.ts";
import { publicUrlFrom, readSettings, type ServeFlags, type Settings } from "./settings.ts";
import { stopServer } from "./stop.ts";
import { tellSystemd } from "./systemd.ts";

const firstCertificate_ms = 15_000;

/** Serves until SIGTERM or SIGINT, and then ends the process. */
export async function serve(flags: ServeFlags): Promise<never> {
  const settings = readSettings(flags, process.env);
  if (settings.proxy !== null) process.env.RUNNEL_PROXY = settings.proxy; // Its threads and commands read it there.
  applyProxy();
  const { plan, workers, cluster, programs, backupPlan } = settings;
  const publicUrlAt = publicUrlFrom(settings);
  const told = signalTold();
  const plainLog = createLog({
    format: flags.log,
    write: (line) => console.error(line),
    secrets: secretsOf(process.env, flags, settings),
  });
  const compose = composing(settings);
  const predecessor = await takeOver({
    plan,
    dataDir: flags.dataDir,
    log: plainLog,
    rehearse: (dir) => rehearse(compose, dir),
  });
  let node: LeadingNode | null = null;
  const lead = async (dir: DataDir) => {
    node = await leadNode({ cluster: cluster!, plan, dir, log: plainLog, publicUrlAt, told });
    return node.lead.ship;
  };
  const storage = await openStorage({ ...flags, reserve: settings.reserve }, plainLog, cluster ? lead : undefined);
  const { dir, db, log } = storage;
  const leading = node as LeadingNode | null;
  const routed = await leading?.lead.route(db.sqlite);
  await leading?.others?.share(db);
  if (leading) globalThis.fetch = leading.waysOut.requesting(globalThis.fetch);
  // The port comes first: a start that fails because it is taken may not count as a recovery of anybody's run. Requests
  // wait for the recovery, which would take the runs that they make for unfinished ones.
  const entrance =
    leading?.entrance ??
    (predecessor && believingNodes(predecessor.entrance, createNodeSeal(storage.masterKey))) ??
    (await openEntrance(plan, dir, log).catch((error) => {
      storage.close();
      throw error;
    }));

  const sandbox = await openSandbox(flags.sandbox, log).catch(async (error) => {
    await entrance.cut();
    storage.close();
    throw error;
  });
  const ownPlan = backupPlan && leading && !leading.isFirst ? ofFurtherCell(backupPlan, leading.lead.cell) : backupPlan;
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
  const handle = handling({ app, db, dir, leading, movers, publicUrl: () => publicUrlAt(entrance.port) });
  const { personOf, staysSignedIn } = app;
  await movers?.mover.resume();
  entrance.letIn(
    movers && routed
      ? leading!.others!.lead({
          routes: routed,
          handle,
          mover: movers.mover,
          personOf,
          staysSignedIn,
          sure: leading!.waysOut.sure,
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
  const tellCommands = (refused?: string) => {
    const about = { cacert: cacertOf(entrance), pid: process.pid, hands_over, refused };
    const { address, needs_public_url, url } = reached;
    const links = needs_public_url ? unknownAddress : url;
    const addresses = { address: isBehindProxy(plan) ? url : address, here: addressHere(plan, entrance.port), links };
    writeServerFile(dir.serverFile, { ...addresses, ...about });
  };
  const followed = hands_over
    ? awaitSuccessor({ ports: entrance, predecessor, log, onRefused: tellCommands })
    : new Promise<never>(() => {});

  // A link to a page that no browser trusts yet is a bad welcome: what is shown first should work, if it takes seconds.
  await Promise.race([entrance.certified, told, Bun.sleep(firstCertificate_ms)]);
  const greeting = await greet({
    reached,
    entrance,
    dir,
    db,
    app,
    recovered_runs,
    localAccounts: settings.localAccounts,
    isFirst: leading?.isFirst ?? true,
  });
  tellCommands();
  sandbox.test();
  entrance.onRenewed(() => tellCommands());
  try {
    print(flags.json, greeting, () => greetingText(greeting));
  } catch (error) {
    log.warn("nobody reads what the start tells", { error }); // Who started it may have gone; a server goes on.
  }
  process.on("uncaughtException", (error) => log.error("an error reached nobody", { error }));
  process.on("unhandledRejection", (error) => log.error("a promise was rejected and nobody listened", { error }));
  tellSystemd("READY=1");
  const endWork = async () => void (await Promise.all([backups?.stop(), app.stop()]));
  const end = await Promise.race([told, followed]);
  if (typeof end === "string") {
    log.info("stopping", { signal: end });
    movers?.mover.stop();
    await stopServer({
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
  process.exit(exitCodes.done); // What still runs is taken up by the next start, and may not delay this end.
}

/** Makes an application with these settings. */
function composing(settings: Settings) {
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
      otlpTarget: settings.otlp,
      metricsToken: settings.metricsToken,
      cluster: node?.lead.ship.figures,
      personOf: node?.entrance.personOf,
      projectsElsewhere: node?.others?.projectsElsewhere,
      ...(backups && {
        backups: backups.state,
        lastBackup: { made_ms: backups.newest_ms, most_ms: oldBackup_ms(backupPlan!) },
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
        caFile: () => cacertOf(entrance),
      },
    });
}

/** What an application is made of that is not there before the data directory is. */
interface Parts extends Pick<AppOptions, "db" | "seal" | "log"> {
  entrance: Pick<Entrance, "port" | "httpPort" | "certificate" | "isPlain" | "isVouchedFor" | "peerOf">;
  dir: DataDir;
  storage?: Storage;
  backups?: ReturnType<typeof backUpRegularly> | null;
  sandbox?: AppOptions["sandbox"];
  /** In a cluster, where this node leads. */
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

/** What answers requests: the application, and in a cluster before it what the other nodes and commands ask of a leader. */
function handling({ app, db, dir, leading, movers, publicUrl }: Handling): Handle {
  const serveRequest: Handle = (request) => app.app.fetch(routable(request));
  if (!leading) return serveRequest;
  const commands = createLeaderCommands({
    seal: leading.seal,
    stores: storesOf(db, dir),
    elsewhere: movers && leading.others!.command(movers.mover),
    move: movers?.mover.move,
    backups: app.backups,
  });
  const handle: Handle = async (request) =>
    (await movers?.receive(request)) ?? (await commands(request)) ?? (await serveRequest(request));
  return leading.waysOut.answering(handle, () => clusterAway(publicUrl));
}

/**
 * Makes the application once on an empty database and asks it something, so that its code is loaded: requests wait when
 * it is made again on the real one.
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

/** Waits for a signal to stop; a second one ends the process at once. */
function signalTold(): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let signals = 0;
  for (const signal of ["SIGTERM", "SIGINT"] as const)
    process.on(signal, () => (++signals > 1 ? process.exit(exitCodes.failed) : resolve(signal)));
  return promise;
}

/** Values that no line of the log may hold. */
const secretsOf = (
  environment: Record<string, string | undefined>,
  { metricsToken, oidcClientSecret, cluster }: ServeFlags,
  { otlp, mail, proxy, cluster: plan }: Settings,
): string[] => [
  ...Object.entries(environment).flatMap(([name, value]) => (value && /_(API_)?KEY$/.test(name) ? [value.trim()] : [])),
  ...[metricsToken, oidcClientSecret, cluster].flatMap((secret) => (secret ? [secret] : [])),
  ...otlpSecrets(otlp),
  ...mailSecrets(mail),
  ...proxySecrets(proxy),
  ...(plan?.passwords ?? []),
];

interface Started {
  /** Where it listens, and where clients reach it. */
  reached: Pick<Greeting, "address" | "needs_public_url"> & { url: string };
  entrance: Entrance;
  dir: DataDir;
  db: Db;
  app: App;
  recovered_runs: number;
  localAccounts: boolean;
  /** False in a cell whose accounts are in another one. */
  isFirst: boolean;
}

async function greet(started: Started): Promise<Greeting> {
  const { reached, entrance, dir, db, app, recovered_runs, localAccounts, isFirst } = started;
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
  if (!project) return { ...common, setup_link: null, project: null, keys: null };
  const key = async (environment: "test" | "live") => {
    const author = { project_id: project.id, environment, actor: cliActor() };
    return (await app.keys.create(author, { name: "first start", scopes: ["admin"] })).secret;
  };
  const audit = createAudit({ db });
  const accounts = createAccounts({ db, audit, passwords: createPasswords(), throttle: createLoginThrottle() });
  const setup = createSetup({ db, audit, accounts, localAccounts });
  const linked = setup.required() ? setup.issue(cliActor()) : null;
  const [test, live, token] = await Promise.all([key("test"), key("live"), linked]); // In one commit.
  return { ...common, setup_link: token && setupLink(url, token), project: project.name, keys: { test, live } };
}

/** The file that a self-signed certificate is verified by. */
function cacertOf(entrance: Pick<Entrance, "certificate">): string | null {
  const certificate = entrance.certificate();
  return certificate?.self_signed ? certificate.path : null;
}

/**
 * Makes a backup as `runnel backup` does, in a process of its own: to copy a large database on the thread that answers
 * requests would keep everybody waiting. The master key never goes along.
 */
const backUpApart =
  (dataDir: string): MakeBackup =>
  async (file) => {
    const { RUNNEL_INCLUDE_KEY: _, ...env } = outsideCluster(process.env);
    const command = ownCommand("backup", file, "--data-dir", dataDir, "--json");
    const child = Bun.spawn(command, { env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
    const [said, complaint, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    if (code !== 0) throw new Error(`The backup failed: ${complaint.trim().slice(0, 1000)}`);
    return JSON.parse(said) as { version: number };
  };
