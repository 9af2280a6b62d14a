import { closeSync, createReadStream, openSync, writeSync } from "node:fs";
import { Readable } from "node:stream";
import { setObjectStoreProxy } from "../../lib/proxy.ts";
import { CliError, SettingLacking, usageError } from "./exit-code.ts";

type Environment = Record<string, string | undefined>;
type Bytes = ReadableStream<Uint8Array>;

interface RemoteBackup {
  name: string;
  made_at: number;
  bytes: number;
}

/** Timeouts of a silent store. Backups run one after the other, so that a stuck one would block all later ones. */
const patience = {
  /** For the response to a request without a body. */
  answer_ms: 30_000,
  /** For the next piece of a backup, sent or received. A slow connection may need long for a large part. */
  piece_ms: 300_000,
};

// Tolerated clock skew. A backup from further in the future comes from a wrong clock or from an attacker.
const ahead_ms = 3_600_000;

// The passphrase is a random key: stretching it would cost time and memory without a benefit.
const workFactor = 1;

/**
 * Opens `s3://bucket/folder` in any S3-compatible store. Keys, region and endpoint come from `AWS_*`; with
 * `RUNNEL_BACKUP_KEY` backups are encrypted (age, with the key as passphrase). Throws for an invalid URL or setting;
 * sends no request yet.
 */
export function openBackupTarget(url: string, environment: Environment, { answer_ms, piece_ms } = patience) {
  const [, bucket, path = ""] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/.exec(url) ?? [];
  if (bucket === undefined)
    throw usageError(`A store of backups has an address such as s3://bucket/folder, unlike "${url}".`);
  const folder = path.replace(/\/+$/, "");
  const key = backupKey(environment);
  const access = accessOf(environment);
  setObjectStoreProxy(new URL(access.endpoint ?? `https://s3.${access.region}.amazonaws.com`));
  const client = new Bun.S3Client({ bucket, ...access });
  const at = (name: string) => (folder === "" ? name : `${folder}/${name}`);
  const where = `s3://${bucket}/${at("")}`;

  const unusable = (reason: string) =>
    new CliError(`${where} cannot be used: ${reason}${access.endpoint ? ` (${access.endpoint})` : ""}`);

  /**
   * Awaits work on the store, with a timeout for silence. With `read`, the name of a backup, an error without a code is
   * corruption of that backup and not a fault of the store.
   */
  async function withDeadline<T>(
    work: Promise<T>,
    { still_ms, moved }: Silence = silence(answer_ms),
    read?: string,
  ): Promise<T> {
    const { promise: stalled, reject } = Promise.withResolvers<never>();
    const timer = setInterval(() => {
      if (performance.now() - moved() > still_ms) reject(unusable(`it has not moved for ${still_ms / 1000} s`));
    }, still_ms / 10);
    return await Promise.race([work, stalled])
      .catch((error) => {
        if (error instanceof CliError) throw error;
        const { code, message = String(error) } = error as { code?: string; message?: string };
        if (read !== undefined && code === undefined) throw new CliError(`${where}${read} is damaged: ${message}`);
        throw unusable(message === noReason && code ? code : message);
      })
      .finally(() => clearInterval(timer));
  }

  /** Lists all backups, newest first. */
  async function list(): Promise<RemoteBackup[]> {
    const found: RemoteBackup[] = [];
    const tokens = new Set<string>();
    for (let continuationToken: string | undefined, more = true; more; ) {
      const page = await withDeadline(client.list({ prefix: at("runnel-"), maxKeys: 1000, continuationToken }));
      for (const { key: whole, size } of page.contents ?? []) {
        const name = whole.slice(at("").length);
        const made_at = timeOf(name);
        if (made_at !== null) found.push({ name, made_at, bytes: size ?? 0 });
      }
      continuationToken = page.nextContinuationToken;
      more = page.isTruncated === true;
      if (continuationToken === undefined) break;
      if (more && tokens.has(continuationToken)) throw new CliError(`${where} lists its objects without an end.`);
      tokens.add(continuationToken);
    }
    return found.sort((a, b) => b.made_at - a.made_at);
  }

  /** False for an unencrypted backup if there is a key: an attacker could have put it there. */
  const isOurs = ({ name }: RemoteBackup): boolean => key === null || isEncrypted(name);

  /** Returns the content of a backup, decrypted and decompressed. */
  async function read(name: string): Promise<Bytes> {
    const stored = client.file(at(name)).stream() as Bytes;
    if (!isEncrypted(name)) return stored.pipeThrough(gunzip());
    if (key === null) throw usageError(`${name} is encrypted: set RUNNEL_BACKUP_KEY.`);
    const { Decrypter } = await loadAge();
    const decrypter = new Decrypter();
    decrypter.addPassphrase(key);
    const plain = await decrypter.decrypt(stored).catch((error: Error) => {
      if (!error.message.includes("no identity matched")) throw error;
      throw new CliError(`${name} is encrypted under another key than RUNNEL_BACKUP_KEY.`);
    });
    return plain.pipeThrough(gunzip());
  }

  return {
    where,
    encrypts: key !== null,

    /** Returns the newest backup that this key can have made and that is not from the future. */
    async newest(now: number): Promise<RemoteBackup | undefined> {
      return (await list()).find((each) => isOurs(each) && each.made_at <= now + ahead_ms);
    },

    /** Stores a file under the current time and reads it back. Throws unless the content is identical. */
    async store(file: string, now: number): Promise<RemoteBackup> {
      const name = nameOf(now, key !== null);
      const [sending, receiving] = [silence(piece_ms), silence(piece_ms)];
      const upload = hashing(sending);
      const plain = fileStream(file).pipeThrough(upload.through).pipeThrough(gzip());
      const body = key === null ? plain : await encrypted(plain, key);
      await withDeadline(client.file(at(name)).write(new Response(body)), sending);
      receiving.move();
      const download = hashing(receiving);
      await withDeadline(
        read(name).then((stream) => stream.pipeThrough(download.through).pipeTo(new WritableStream())),
        receiving,
        name,
      );
      if (download.digest() !== upload.digest())
        throw new CliError(`${where}${name} is not what was sent. It is left there.`);
      return { name, made_at: now, bytes: (await withDeadline(client.file(at(name)).stat())).size };
    },

    /** Downloads a backup into a file; by default the newest that this key can have made. Returns its name. */
    async fetch(name: string | null, file: string): Promise<string> {
      const all = name === null ? await list() : [];
      const chosen = name ?? all.find(isOurs)?.name;
      const [newest] = all;
      if (chosen === undefined)
        throw new CliError(
          newest === undefined
            ? `There is no backup in ${where}`
            : `No backup in ${where} is encrypted, and RUNNEL_BACKUP_KEY is set. Name one to take it as it is: ${where}${newest.name}`,
        );
      const handle = openSync(file, "wx", 0o600);
      const receiving = silence(piece_ms);
      const write = (chunk: Uint8Array): void => {
        receiving.move();
        writeAll(handle, chunk);
      };
      const writing = read(chosen).then((stream) => stream.pipeTo(new WritableStream({ write })));
      await withDeadline(writing, receiving, chosen).finally(() => closeSync(handle));
      return chosen;
    },

    /** Deletes all but the newest backups, but none from the future. Returns the deleted names. */
    async keepNewest(count: number, now: number): Promise<string[]> {
      const existing = (await list()).filter(({ made_at }) => made_at <= now + ahead_ms);
      const expired = existing.slice(count).map(({ name }) => name);
      for (const name of expired) await withDeadline(client.file(at(name)).delete());
      return expired;
    },
  };
}

function accessOf(environment: Environment) {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = environment;
  if (!accessKeyId || !secretAccessKey)
    throw new SettingLacking(
      "The store needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and one that is not at AWS AWS_ENDPOINT_URL too.",
    );
  const endpoint = environment.AWS_ENDPOINT_URL_S3 || environment.AWS_ENDPOINT_URL || undefined; // An empty variable counts as not set.
  if (endpoint !== undefined && !/^https?:$/.test(URL.parse(endpoint)?.protocol ?? ""))
    throw usageError(`AWS_ENDPOINT_URL takes an address such as https://s3.example.com, not "${endpoint}".`);
  return {
    accessKeyId,
    secretAccessKey,
    sessionToken: environment.AWS_SESSION_TOKEN || undefined,
    region: environment.AWS_REGION || environment.AWS_DEFAULT_REGION || "us-east-1",
    endpoint,
  };
}

/** Bun's message if the server did not respond; only the code has the reason. */
const noReason = "an unexpected error has occurred";

/** Reads `RUNNEL_BACKUP_KEY`; null if it is not set. Throws for an invalid key. */
function backupKey({ RUNNEL_BACKUP_KEY: text }: Environment): string | null {
  const key = text?.trim().toLowerCase();
  if (!key) return null;
  if (!/^[0-9a-f]{64}$/.test(key))
    throw usageError("RUNNEL_BACKUP_KEY takes 64 hexadecimal digits: openssl rand -hex 32");
  return key;
}

const pattern = /^runnel-(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)-(\d{3})Z\.db\.gz(?:\.age)?$/;

/** Returns `runnel-2026-11-23T03-00-00-000Z.db.gz`, with `.age` if encrypted. */
const nameOf = (ms: number, encrypts: boolean): string =>
  `runnel-${new Date(ms).toISOString().replace(/[:.]/g, "-")}.db.gz${encrypts ? ".age" : ""}`;

const isEncrypted = (name: string): boolean => name.endsWith(".age");

function timeOf(name: string): number | null {
  const [, day, hours, minutes, seconds, ms] = pattern.exec(name) ?? [];
  const time = Date.parse(`${day}T${hours}:${minutes}:${seconds}.${ms}Z`);
  return Number.isNaN(time) ? null : time;
}

/** Loaded lazily, because the library is large. */
const loadAge = () => import("age-encryption");

async function encrypted(plain: Bytes, key: string): Promise<Bytes> {
  const { Encrypter } = await loadAge();
  const encrypter = new Encrypter();
  encrypter.setPassphrase(key);
  encrypter.setScryptWorkFactor(workFactor);
  return await encrypter.encrypt(plain);
}

function writeAll(handle: number, chunk: Uint8Array): void {
  for (let at = 0; at < chunk.length; ) at += writeSync(handle, chunk, at);
}

const fileStream = (file: string): Bytes => Readable.toWeb(createReadStream(file)) as unknown as Bytes;
const gzip = () => new CompressionStream("gzip") as TransformStream<Uint8Array, Uint8Array>;
const gunzip = () => new DecompressionStream("gzip") as TransformStream<Uint8Array, Uint8Array>;

/** Time since data last moved. */
interface Silence {
  still_ms: number;
  /** Returns the time of the last movement. */
  moved(): number;
  move(): void;
}

function silence(still_ms: number): Silence {
  let at = performance.now();
  return {
    still_ms,
    moved: () => at,
    move() {
      at = performance.now();
    },
  };
}

function hashing({ move }: Silence) {
  const hasher = new Bun.CryptoHasher("sha256");
  return {
    through: new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        move();
        hasher.update(chunk);
        controller.enqueue(chunk);
      },
    }),
    digest: () => hasher.digest("hex"),
  };
}
