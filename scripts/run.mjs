// Needs only node and npm: fetches the pinned Bun, installs the packages of bun.lock, lists the kinds, then runs `bun
// <arguments>`.
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { constants } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { writeKinds } from "./kinds.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const version = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).config.bun;
const windows = process.platform === "win32";
const tools = join(root, ".tools");
const bun = join(tools, `bun-${version}`, windows ? "bun.exe" : "bun");
const stamp = join(root, "node_modules", ".installed");
const installed = createHash("sha256")
  .update(readFileSync(join(root, "bun.lock")))
  .update(version)
  .digest("hex");

const isReady = () => existsSync(bun) && existsSync(stamp) && readFileSync(stamp, "utf8") === installed;

try {
  if (!isReady()) await alone(setUp);
  writeKinds(root);
  process.exitCode = await run(bun, process.argv.slice(2));
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}

function setUp() {
  if (!existsSync(bun)) fetchBun();
  if (isReady()) return;
  must(bun, ["install", "--frozen-lockfile"], root);
  writeFileSync(stamp, installed);
}

function fetchBun() {
  console.error(`Fetching bun ${version} from the npm registry …`);
  const folder = join(tools, `fetch-${process.pid}`);
  mkdirSync(folder, { recursive: true });
  // npm refuses an archive whose SHA-512 differs from its lock, from any registry.
  for (const name of ["package.json", "package-lock.json"])
    copyFileSync(join(root, "scripts/bun", name), join(folder, name));
  try {
    const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--include=optional", "--loglevel=error"];
    must("npm", ["ci", "--prefix", folder, ...flags], folder);
    const found = executables(folder).find(isPinned);
    if (!found)
      fail(
        `No executable of bun ${version} that is the one in scripts/bun/package-lock.json runs on ${process.platform} ${process.arch}.`,
      );
    mkdirSync(dirname(bun), { recursive: true });
    // One rename installs the whole file: an interrupted fetch leaves nothing that looks like a Bun.
    renameSync(found, bun);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns the executables that npm installed for this machine. */
function executables(folder) {
  const platforms = join(folder, "node_modules", "@oven");
  return (existsSync(platforms) ? readdirSync(platforms) : [])
    .flatMap((name) => ["bun", "bun.exe"].map((exe) => join(platforms, name, "bin", exe)))
    .filter((path) => existsSync(path));
}

function isPinned(path) {
  return spawnSync(path, ["--version"], { encoding: "utf8" }).stdout?.trim() === version;
}

/** Two concurrent first starts would install into the same folders: the second waits and then finds the work done. */
async function alone(work) {
  const lock = join(tools, "setup.lock");
  mkdirSync(tools, { recursive: true });
  while (!take(lock)) {
    if (isAbandoned(lock)) rmSync(lock, { force: true });
    else await sleep(100);
  }
  try {
    work();
  } finally {
    rmSync(lock, { force: true });
  }
}

function take(lock) {
  try {
    writeFileSync(lock, String(process.pid), { flag: "wx" });
    return true;
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
    return false;
  }
}

function isAbandoned(lock) {
  try {
    const owner = Number(readFileSync(lock, "utf8"));
    // Process ids are reused: after ten minutes the id alone proves nothing.
    if (Date.now() - statSync(lock).mtimeMs > 600_000) return true;
    if (owner > 0) process.kill(owner, 0);
    return false;
  } catch (error) {
    return error.code === "ESRCH";
  }
}

function must(command, args, cwd) {
  // npm is a batch file on Windows, which only a shell can start.
  const { status, error } = spawnSync(command, args, {
    cwd,
    stdio: ["ignore", 2, 2],
    shell: windows && command === "npm",
  });
  if (error) throw error;
  if (status !== 0) fail(`\`${command} ${args.join(" ")}\` failed.`);
}

function fail(message) {
  throw new Error(message);
}

/** Runs in this process's place: forwards its signals to the child, and exits with the child's code. */
function run(command, args) {
  const path = `${dirname(command)}${delimiter}${process.env.PATH ?? ""}`;
  const child = spawn(command, args, { stdio: "inherit", env: { ...process.env, PATH: path } });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => forward(child, signal));
  endWithNpm(child);
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (code, signal) => resolve(code ?? 128 + constants.signals[signal]));
  });
}

function forward(child, signal) {
  // The terminal sends Ctrl-C to every process itself: forwarded as well, the child would get it twice.
  if (signal === "SIGINT" && process.stdin.isTTY) return;
  child.kill(signal);
}

/** A signal to npm ends npm and its shell and is not forwarded: without this the server would stay, unseen. */
function endWithNpm(child) {
  if (!process.env.npm_lifecycle_event) return;
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    child.kill("SIGTERM");
  }, 250);
  watch.unref();
}
