#!/usr/bin/env node
// Runs the executable for this machine, which is in a package of its own, in place of this process: with its arguments,
// its terminal, its signals and its exit code.
const { spawn } = require("node:child_process");
const { platforms, version } = require("../package.json");

const signals = ["SIGINT", "SIGTERM", "SIGHUP"];

/** Returns the name of this platform, as the archives of a release have it. */
function platformName() {
  const system = { darwin: "macos", win32: "windows" }[process.platform] ?? process.platform;
  return `${system}-${process.arch}${isMusl() ? "-musl" : ""}`;
}

function isMusl() {
  if (process.platform !== "linux") return false;
  process.report.excludeNetwork = true; // Otherwise the report looks up a name for each connection.
  return !process.report.getReport().header.glibcVersionRuntime;
}

function findExecutable() {
  const platform = platformName();
  const name = `runnel-server-${platform}`;
  if (!platforms.includes(platform))
    end(`runnel has no executable for ${process.platform} on ${process.arch}. It has these: ${platforms.join(", ")}.`);
  try {
    return require.resolve(`${name}/bin/runnel${process.platform === "win32" ? ".exe" : ""}`);
  } catch {
    return end(
      `The package ${name} is missing, as in a folder copied from another kind of machine.\n` +
        `Install ${name} ${version} beside runnel-server.`,
    );
  }
}

function end(message) {
  console.error(message);
  process.exit(1);
}

const program = findExecutable();
// Before the program starts: a signal that came in between would end this process alone.
for (const signal of signals)
  process.on(signal, () => {
    // The terminal sends Ctrl-C to every process itself: forwarded as well, the server would get it twice.
    if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal);
  });
const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
child.on("error", ({ message }) => end(`runnel cannot be started: ${message}`));
child.on("exit", (code, signal) => {
  if (signal === null) process.exit(code);
  for (const each of signals) process.removeAllListeners(each);
  process.kill(process.pid, signal);
});
