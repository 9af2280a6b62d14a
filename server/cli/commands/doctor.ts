import { Database } from "bun:sqlite";
import { closeSync, existsSync, fsyncSync, openSync, rmSync, statfsSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { migrations } from "../../../migrations/index.ts";
import { timestamp } from "../../domain/time.ts";
import { storedCertificate } from "../../lib/acme/certificate-renewer.ts";
import { build } from "../../lib/build-info.ts";
import { type Certificate, readCertificate } from "../../lib/certificate.ts";
import { silentLog } from "../../lib/log.ts";
import { requireValue } from "../../lib/require-value.ts";
import { createSeal } from "../../lib/seal.ts";
import { storedOutages } from "../../resources/model-connections/outage-notes.ts";
import { createPriceStore } from "../../resources/model-connections/prices.ts";
import { createConnectionStore } from "../../resources/model-connections/store.ts";
import { listensAt, ollamaUrl } from "../../runtime/models/ollama.ts";
import { EmbeddingThread } from "../../runtime/retrieval/embeddings/built-in.ts";
import { availableModels, defaultModel, unavailableReason } from "../../runtime/retrieval/embeddings/models.ts";
import { findOwnModel, ownModels } from "../../runtime/retrieval/embeddings/own-models.ts";
import { jailAdvice } from "../../runtime/sandbox/jail-advice.ts";
import { jailFaults } from "../../runtime/sandbox/self-test.ts";
import { createAudit } from "../../storage/db/audit.ts";
import { faultsOf } from "../../storage/db/check.ts";
import { type DataDir, DataDirInUse, openDataDir } from "../../storage/db/data-dir.ts";
import { defaultReserve } from "../../storage/db/disk-space.ts";
import { masterKeyId, readMasterKeyId } from "../../storage/db/master-key-fingerprint.ts";
import { networkDisk } from "../../storage/db/network-disk.ts";
import { onlyRow } from "../../storage/db/only-row.ts";
import { openDatabase } from "../../storage/db/open.ts";
import { replicaMarker } from "../../storage/db/replica-marker.ts";
import { readServerFile } from "../../storage/db/server-file.ts";
import { DatabaseTooNew, databaseVersion } from "../../storage/db/version.ts";
import { examineEngine } from "../../storage/replication/status.ts";
import { type CellFlags, createLeaderClient } from "../cluster/leader-client.ts";
import { doctorPath } from "../cluster/leader-commands.ts";
import { readAcmeCacert, readTlsFiles } from "../serve/certificate-source.ts";
import { flagsFrom, listenerOf, settingChecks, settingFaults, type Verdict } from "../serve/check-settings.ts";
import { defaultWorkers, openFilesAdvice, openFilesMax, openFilesNeeded } from "../serve/open-files.ts";
import { readReserve } from "../serve/open-storage.ts";
import { openPython } from "../serve/sandbox-level.ts";
import { oldBackup_ms, planBackups } from "../serve/scheduled-backup.ts";
import { serveCommand } from "../serve/serve-command.ts";
import type { ServeFlags } from "../serve/settings.ts";
import { openBackupTarget } from "./backup-target.ts";
import { configSettings, hasOpenSecrets, readConfigFile } from "./config-file.ts";
import { exitCodes } from "./exit-code.ts";
import { tableWords } from "./models-update.ts";
import { print } from "./print.ts";

export interface DoctorFlags {
  config?: string;
  dataDir: string;
  cluster?: string;
  cell: string;
  clusterDurability?: "engine-local";
  machine?: boolean;
  json?: boolean;
}

/** Result of one check. `warn` deserves attention, `fail` is broken. */
interface Finding {
  check: string;
  result: "ok" | "warn" | "fail";
  detail: string;
}

const warn = (detail: string): Verdict => ({ result: "warn", detail });
const fail = (detail: string): Verdict => ({ result: "fail", detail });
const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Runs a check; an exception is a failure. */
const findingOf = (check: string, look: () => Verdict): Finding => asFinding(check, attempt(look));

const findingLater = async (check: string, look: () => Promise<Verdict>): Promise<Finding> =>
  asFinding(check, await look().catch((error) => fail(messageOf(error))));

const asFinding = (check: string, verdict: Verdict): Finding => ({
  check,
  ...(typeof verdict === "string" ? { result: "ok", detail: verdict } : verdict),
});

function attempt(look: () => Verdict): Verdict {
  try {
    return look();
  } catch (error) {
    return fail(messageOf(error));
  }
}

/** Runs all checks, changes nothing except a temporary file, and sets exit code 1 if something is broken. */
export async function doctor(flags: DoctorFlags, settingWarnings: readonly string[]): Promise<void> {
  const { config, dataDir, cluster, machine, json } = flags;
  const serve = flagsFrom(serveCommand(), process.env);
  const isNode = cluster === undefined || existsSync(dataDir); // A cluster can be checked from any machine.
  const findings = [
    ...(config === undefined ? [] : [configFinding(config)]),
    ...(isNode ? examine(dataDir, serve) : []),
    await sandboxFinding(serve),
    ...(serve.python === undefined ? [] : [await pythonFinding(serve.python)]),
    ...(machine ? [] : await networkFindings(flags, serve)),
  ];
  if (!machine) {
    findings.push(...unreadFindings(findings));
    for (const warning of settingWarnings) findings.push(asFinding("settings", warn(warning)));
  }
  const broken = findings.some(({ result }) => result === "fail");
  const width = Math.max(16, ...findings.map(({ check }) => check.length));
  if (broken) process.exitCode = exitCodes.failed;
  print(json, { healthy: !broken, findings }, () =>
    findings.map(({ check, result, detail }) => `${result.padEnd(5)} ${check.padEnd(width)} ${detail}`).join("\n"),
  );
}

/** Checks that use the network or load a model. */
async function networkFindings(
  { dataDir, cluster, cell, clusterDurability }: DoctorFlags,
  serve: ServeFlags,
): Promise<Finding[]> {
  return [
    ...(serve.backupTo === undefined ? [] : [await backupFinding(serve)]),
    await ollamaFinding(dataDir),
    await embeddingFinding(dataDir),
    ...(cluster === undefined
      ? []
      : [await clusterFinding(cluster, clusterDurability), ...(await leaderFindings({ cluster, cell }))]),
    ...(await settingFindings(serve)),
  ];
}

/** Checks of the leader's machine that cannot run on this one. */
const leaderChecks = ["data directory", "database", "integrity", "disk space", "fsync", "open files", "sandbox"];

async function leaderFindings(flags: CellFlags): Promise<Finding[]> {
  try {
    const leader = await createLeaderClient(flags);
    const { findings } = (await (await leader.send(doctorPath)).json()) as { findings: Finding[] };
    return [
      { check: "leader", result: "ok", detail: leader.address },
      ...findings
        .filter(({ check }) => leaderChecks.includes(check))
        .map((finding) => ({ ...finding, check: `leader's ${finding.check}` })),
    ];
  } catch (error) {
    return [asFinding("leader", fail(messageOf(error)))];
  }
}

/** Checks if Postgres keeps acknowledged commits when its machine is lost, and how long a commit takes. */
const clusterFinding = (url: string, durability: DoctorFlags["clusterDurability"]): Promise<Finding> =>
  findingLater("cluster", async () => {
    const { synchronous_standbys: standbys, commit_ms, encrypted } = await examineEngine(url);
    const open = "; the way to it is not encrypted: add ?sslmode=verify-full to its address";
    const time = `a commit takes ${commit_ms} ms${encrypted === false ? open : ""}`;
    if (standbys === null) return warn(`it does not say whether it has a standby; ${time}`);
    if (standbys > 0) {
      const detail = `synchronous standbys: ${standbys}; ${time}`;
      return encrypted === false ? warn(detail) : detail;
    }
    const detail = `the Postgres has no synchronous standby: what is acknowledged is lost with its disk; ${time}`;
    return durability === "engine-local" ? warn(detail) : fail(detail);
  });

const configFinding = (path: string): Finding =>
  findingOf("configuration", () => {
    const found = Object.keys(readConfigFile(path, configSettings(serveCommand())));
    return hasOpenSecrets(path, found)
      ? warn(`others can read the secrets in ${path}. Run: chmod 600 ${path}`)
      : `${path}: ${found.length} settings`;
  });

/** Checks if the store of `RUNNEL_BACKUP_TO` responds, and the age of its newest backup. */
const backupFinding = (serve: ServeFlags): Promise<Finding> =>
  findingLater("backups", async () => {
    const plan = requireValue(planBackups(serve, process.env), "The plan of backups");
    const { where, newest: newestThere, encrypts } = openBackupTarget(plan.to, process.env);
    const newest = await newestThere(Date.now());
    if (!newest) return warn(`${where} has none yet`);
    const hours = Math.floor((Date.now() - newest.made_at) / 3_600_000);
    const detail = `the newest in ${where} is ${hours} hours old${encrypts ? "" : "; no RUNNEL_BACKUP_KEY encrypts the next"}`;
    return Date.now() - newest.made_at > oldBackup_ms(plan) ? warn(detail) : detail;
  });

/** Checks the settings that are set: those that would prevent a start or do not work. */
async function settingFindings(flags: ServeFlags): Promise<Finding[]> {
  const looks = Object.entries(settingChecks).map(async ([check, look]): Promise<Finding[]> => {
    try {
      const detail = await look(flags, process.env);
      return detail === null ? [] : [asFinding(check, detail)];
    } catch (error) {
      return [asFinding(check, fail(messageOf(error)))];
    }
  });
  return (await Promise.all(looks)).flat();
}

/** Returns faults of settings that no other check has reported. */
const unreadFindings = (existing: readonly Finding[]): Finding[] =>
  settingFaults(serveCommand(), process.env)
    .filter(({ message }) => !existing.some(({ detail }) => detail === message))
    .map(({ message }) => asFinding("settings", fail(message)));

/** Checks Ollama. A missing one is a warning only if a setting or connection names it. */
async function ollamaFinding(dataDir: string): Promise<Finding> {
  const stored = attempt(() => storedOllama(dataDir));
  const configuredUrl = (typeof stored === "string" && stored) || process.env.OLLAMA_BASE_URL?.trim();
  const url = configuredUrl || ollamaUrl;
  if (await listensAt(url)) return asFinding("ollama", `there is one at ${url}`);
  const lacking = `at ${url}: models ollama/… are not available`;
  return asFinding("ollama", configuredUrl ? warn(`nothing listens ${lacking}`) : `there is none ${lacking}`);
}

/** True for a replica: only its node may touch its WAL. */
const isCopy = (path: string): boolean => existsSync(join(path, replicaMarker));

/** Returns the URL of a stored Ollama connection; empty if there is none. */
function storedOllama(dataDir: string): string {
  const { database, path } = openDataDir(dataDir, { lock: false, create: false });
  if (isCurrent(database) !== "current" || isCopy(path)) return "";
  const db = openDatabase(database);
  try {
    const sql = "SELECT coalesce(base_url, ?) AS url FROM model_connections WHERE provider = 'ollama'";
    return db.sqlite.query<{ url: string }, [string]>(sql).get(ollamaUrl)?.url ?? "";
  } finally {
    db.close();
  }
}

async function pythonFinding(python: string): Promise<Finding> {
  try {
    const { version, packages } = await openPython(python);
    return asFinding("python", `CPython ${version} with ${packages.join(", ") || "no known package"}`);
  } catch (error) {
    return asFinding("python", fail(error instanceof Error ? error.message : String(error)));
  }
}

async function sandboxFinding({ sandbox }: ServeFlags): Promise<Finding> {
  const faults = await jailFaults();
  if (faults.length === 0) return asFinding("sandbox", build.lean ? "strict; this lean build has no Python" : "strict");
  const detail = `process: Python is refused, and a program that breaks its interpreter could ${faults.join(", ")}`;
  const detailText = [detail, jailAdvice(faults)].filter(Boolean).join(". ");
  return asFinding(
    "sandbox",
    sandbox === "strict" ? fail(`no start with --sandbox strict: ${detailText}`) : warn(detailText),
  );
}

/** Returns the operator's own models with their prefixes: a model trained with a prefix finds less without it. */
function installedEmbedders(dataDir: string): string[] {
  const folder = join(dataDir, "embedders");
  return ownModels(folder).map((model) => {
    const { prefix, query_prefix } = requireValue(findOwnModel(folder, model), `The model ${model}`);
    return `${model} (before texts ${JSON.stringify(prefix)}, before questions ${JSON.stringify(query_prefix)})`;
  });
}

/** Loads the default model as a server does, and embeds one text. */
async function embeddingFinding(dataDir: string): Promise<Finding> {
  if (availableModels.length === 0) return asFinding("embedding", unavailableReason(defaultModel));
  const thread = new EmbeddingThread({ log: silentLog });
  const started = performance.now();
  try {
    const [vector] = await thread.embed(defaultModel, ["Is the embedding model well?"]);
    const ms = Math.round(performance.now() - started);
    const detail = `${defaultModel}: ${requireValue(vector, "The vector").length} dimensions, loaded and asked in ${ms} ms`;
    const others = availableModels.filter((model) => model !== defaultModel);
    return asFinding("embedding", [detail, ...others, ...installedEmbedders(dataDir)].join("; also "));
  } catch (error) {
    return asFinding("embedding", fail(messageOf(error)));
  } finally {
    thread.stop();
  }
}

function examine(dataDir: string, serve: ServeFlags): Finding[] {
  const findings: Finding[] = [];
  const check = (name: string, look: () => Verdict): boolean => {
    const finding = findingOf(name, look);
    findings.push(finding);
    return finding.result !== "fail";
  };
  let dir: DataDir | undefined;
  const usable = check("data directory", () => {
    dir = openDataDir(dataDir, { lock: false, create: false });
    return `${dir.path}, mode ${(statSync(dir.path).mode & 0o777).toString(8)}`;
  });
  if (!usable || !dir) {
    // The operator's certificate exists before the first start.
    if (serve.tlsCert !== undefined) check("certificate", () => certificate({ tls: join(dataDir, "tls") }, serve));
    return findings;
  }
  const opened = dir;
  const { path, database } = opened;
  check("lock", () => lock(path));
  const isWhole = check("database", () => version(database)) && check("integrity", () => integrity(database));
  check("extensions", () => extensions(opened));
  check("disk space", () => diskSpace(path, serve));
  check("fsync", () => fsyncTime(path));
  check("open files", () => openFiles(opened));
  check("certificate", () => certificate(opened, serve));
  if (!isWhole) return findings; // A corrupt database cannot tell which key it needs.
  const hasKey = check("master key", () => masterKey(opened));
  // Opening an older database would migrate it.
  if (isCopy(path) || attempt(() => isCurrent(database)) !== "current") return findings;
  if (hasKey) check("models", () => models(opened));
  check("prices", () => prices(opened));
  return findings;
}

const serverRuns = "held: a server runs";

function lock(path: string): Verdict {
  try {
    openDataDir(path, { lock: true, create: false }).release();
    return "free: no server runs";
  } catch (error) {
    if (error instanceof DataDirInUse) return serverRuns;
    throw error;
  }
}

function version(database: string): Verdict {
  if (!existsSync(database)) return warn('there is none yet; "runnel serve" makes it');
  const found = databaseVersion(database);
  if (found > migrations.length) throw new DatabaseTooNew(found);
  const size = `${(statSync(database).size / 1e6).toFixed(1)} MB`;
  return found < migrations.length
    ? warn(`version ${found}, will be brought to ${migrations.length} at the next start; ${size}`)
    : `version ${found}, ${size}`;
}

const isCurrent = (database: string): Verdict =>
  existsSync(database) && databaseVersion(database) === migrations.length ? "current" : "other";

function integrity(database: string): Verdict {
  if (!existsSync(database)) return "nothing to check";
  const db = new Database(database, { readonly: true });
  try {
    db.run("PRAGMA busy_timeout = 5000");
    const faults = faultsOf(db, "full");
    return faults.length === 0 ? "whole" : fail(`${faults.join("; ")}. Restore a backup.`);
  } finally {
    db.close();
  }
}

function extensions(dir: DataDir): Verdict {
  const db = new Database(":memory:");
  try {
    db.loadExtension(dir.vecLibrary());
    const { vec } = onlyRow(db.query<{ vec: string }, []>("SELECT vec_version() AS vec").get());
    db.run("CREATE VIRTUAL TABLE words USING fts5(text)");
    return `sqlite-vec ${vec}, FTS5`;
  } finally {
    db.close();
  }
}

function diskSpace(path: string, { minFreeDisk, allowNetworkFilesystem }: ServeFlags): Verdict {
  const { bavail, bsize, blocks } = statfsSync(path);
  const free = bavail * bsize;
  const network = networkDisk(path);
  if (network && !allowNetworkFilesystem)
    return fail(`${path} lies on a network disk (${network}): SQLite cannot lock files there`);
  const freeText = `${(free / 1e9).toFixed(1)} GB free of ${((blocks * bsize) / 1e9).toFixed(1)} GB`;
  const reserve_bytes = (minFreeDisk === undefined ? defaultReserve : readReserve(minFreeDisk))(blocks * bsize);
  return free < reserve_bytes ? warn(`${freeText}: new runs are refused`) : freeText;
}

/** Checks the limit of the running server, or of one that would start here. */
function openFiles({ serverFile }: DataDir): Verdict {
  const pid = readServerFile(serverFile)?.pid;
  const max = (pid === undefined ? null : openFilesMax(pid)) ?? openFilesMax();
  const programs = Object.keys(process.env).filter((name) => /^RUNNEL_MCP_[A-Z0-9_]+_COMMAND$/.test(name));
  const needed = openFilesNeeded(defaultWorkers(), programs.length);
  if (max === null) return "the system does not tell how many there may be";
  const few = openFilesAdvice(max, needed);
  return few ? warn(few) : `${max} may be open at once; the server may need ${needed}`;
}

const slowSync_ms = 50;

function fsyncTime(path: string): Verdict {
  const file = join(path, `fsync-${process.pid}`);
  const handle = openSync(file, "wx", 0o600);
  try {
    const times = Array.from({ length: 5 }, () => {
      const start = performance.now();
      writeSync(handle, "x".repeat(4096));
      fsyncSync(handle);
      return performance.now() - start;
    });
    const median = requireValue(times.sort((a, b) => a - b)[2], "The median");
    const fsyncText = `${median.toFixed(2)} ms for 4 KB`;
    return median > slowSync_ms ? warn(`${fsyncText}: every step of a run waits for that`) : fsyncText;
  } finally {
    closeSync(handle);
    rmSync(file);
  }
}

const soon_ms = 21 * 86_400_000;

/** Checks the certificate that a start would use. */
function certificate({ tls: folder }: Pick<DataDir, "tls">, serve: ServeFlags): Verdict {
  const { tls } = listenerOf(serve) ?? { tls: "own" as const };
  if (tls === null) return "none: plain HTTP, for a proxy or this machine";
  if (tls === "own") {
    const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
    return existsSync(cert)
      ? expiryFinding(readCertificate(cert, key), "the next start makes a new one")
      : "no own one yet";
  }
  if ("cert" in tls) return expiryFinding(readTlsFiles(tls), `renew ${tls.cert}`);
  readAcmeCacert(tls);
  const { domains, directory } = tls;
  const storedCert = storedCertificate({ domains, directory, folder }, Date.now());
  return storedCert
    ? expiryFinding(storedCert, logHint)
    : warn(`none for ${domains.join(", ")} was obtained yet: ${logHint}`);
}

const logHint = 'the log says why, by "no certificate could be obtained"';

function expiryFinding({ expires_at_ms, path }: Certificate, advice: string): Verdict {
  const left = expires_at_ms - Date.now();
  if (left < 0) return fail(`${path} has expired; ${advice}`);
  const days = `${Math.floor(left / 86_400_000)} days left`;
  return left < soon_ms ? warn(`${days}; ${advice}`) : days;
}

/** Checks if the key that the database's secrets need is present, and its source. */
export function masterKey(dir: DataDir, environment: NodeJS.ProcessEnv = process.env): Verdict {
  const needed = neededKey(dir.database);
  const file = join(dir.path, "master.key");
  const isGiven = Boolean(environment.RUNNEL_MASTER_KEY);
  const need = `the secrets in the database need the master key ${needed}`;
  if (!isGiven && !existsSync(file))
    return needed === null ? "none yet" : fail(`${need}. Put it into ${file} (mode 600) or into RUNNEL_MASTER_KEY.`);
  const mode = isGiven ? 0o600 : statSync(file).mode & 0o777;
  if ((mode & 0o077) !== 0) return fail(`others can read ${file} (mode ${mode.toString(8)}). Run: chmod 600 ${file}`);
  const id = masterKeyId(dir.masterKey(environment));
  if (needed !== null && id !== needed) return fail(`${need}, and this one is ${id}`);
  return isGiven ? "from the environment" : "in master.key";
}

/** Returns the id of the key that encrypts the database's secrets; null if none is stored yet. */
function neededKey(database: string): string | null {
  if (!existsSync(database)) return null;
  using sqlite = new Database(database, { readonly: true });
  return readMasterKeyId(sqlite);
}

/** Lists the connections and checks that their stored keys can be decrypted. */
/** Days after which prices have probably changed. */
const oldPrices_days = 90;

/** Checks the age of the table of list prices. */
function prices({ database }: DataDir): Verdict {
  const db = openDatabase(database);
  try {
    const table = createPriceStore({ db, audit: createAudit({ db }) }).table();
    const days = Math.floor((Date.now() - Date.parse(table.as_of)) / 86_400_000);
    const detail = `${tableWords(table)}, ${days} days old, ${table.origin === null ? "built in" : `from ${table.origin}`}`;
    return days > oldPrices_days ? warn(`${detail}; load newer ones: runnel models update`) : detail;
  } finally {
    db.close();
  }
}

function models(dir: DataDir): Verdict {
  if (!process.env.RUNNEL_MASTER_KEY && !existsSync(join(dir.path, "master.key"))) return "none stored";
  const db = openDatabase(dir.database);
  try {
    const seal = createSeal(dir.masterKey(process.env));
    const audit = createAudit({ db });
    const connections = createConnectionStore({ db, audit, seal, environment: process.env, now: Date.now });
    connections.isAvailable("openai/any", "test");
    const names = connections.list().map(({ name }) => name);
    const listed = names.join(", ") || "none";
    // Outages of a server that has ended mean nothing.
    const outages = attempt(() => lock(dir.path)) === serverRuns ? storedOutages(db) : [];
    const sentences = outages.map(
      ({ model, since_ms, error }) => `${model} has not answered since ${timestamp(since_ms)}: ${error.message}`,
    );
    return sentences.length > 0 ? warn([listed, ...sentences].join("; ")) : listed;
  } finally {
    db.close();
  }
}
