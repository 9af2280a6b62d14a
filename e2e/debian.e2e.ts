import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { debianArchitecture, debianData, debianFiles, debianPackage } from "../scripts/release/debian.ts";
import { isOwn, targets } from "../scripts/release/targets.ts";
import { build } from "../server/lib/build-info.ts";
import { canLayOver, startOverSystem } from "./bare-root.ts";
import { executable, firstLine, type Json } from "./harness.ts";

const own = targets.find(isOwn);
const architecture = own ? debianArchitecture(own) : null;
const isDebian = architecture !== null && canLayOver && Bun.which("dpkg") !== null;
if (!isDebian) console.warn("skipped: packages of Debian are installed by root alone, where dpkg is");

describe.skipIf(!isDebian)("the Debian package", () => {
  let folder: string;
  let path: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "runnel-debian-"));
    path = join(folder, `runnel_${build.version}_${architecture}.deb`);
    const files = debianFiles(readFileSync(executable), [["NOTICES.txt", Buffer.from("Notices.\n")]]);
    // Uncompressed, because compression takes minutes.
    const data = ["data.tar", debianData(files)] as const;
    writeFileSync(path, debianPackage({ version: build.version, architecture: architecture!, files, data }));
  }, 60_000);
  afterAll(() => rmSync(folder, { recursive: true }));

  // The first line of its output is the server's. It goes on when a line is typed, and says each step on standard error.
  const script = `
export RUNNEL_CONFIG=/etc/runnel/runnel.toml
dpkg --install "$1" >&2
runnel version >&2
setpriv --reuid runnel --regid runnel --clear-groups runnel config check $RUNNEL_CONFIG >&2
test "$(stat -c '%U:%G %a' $RUNNEL_CONFIG)" = 'runnel:runnel 600'
test "$(stat -c '%U:%G %a' /var/lib/runnel)" = 'runnel:runnel 700'
test ! -e /etc/systemd/system/multi-user.target.wants/runnel.service
systemd-analyze verify --man=no /usr/lib/systemd/system/runnel.service >&2
setpriv --reuid runnel --regid runnel --clear-groups runnel serve --port 0 --json &
server=$!
read -r line
kill $server
wait $server

echo 'audit-retention-days = 30' >> $RUNNEL_CONFIG
dpkg --install "$1" < /dev/null >&2
grep -q 'audit-retention-days = 30' $RUNNEL_CONFIG
test "$(stat -c '%U:%G %a' $RUNNEL_CONFIG)" = 'runnel:runnel 600'

dpkg --remove runnel >&2
test ! -e /usr/bin/runnel
test ! -e /usr/lib/systemd/system/runnel.service
grep -q 'audit-retention-days = 30' $RUNNEL_CONFIG
test -s /var/lib/runnel/runnel.db

dpkg --purge runnel >&2
test ! -e /etc/runnel
test ! -e /var/lib/runnel
echo 'All of it is gone.' >&2
`;

  test("installs a service of its own user, which serves; keeps settings and data when removed, and nothing when purged", async () => {
    const child = startOverSystem(script, [path]);
    const said = new Response(child.stderr).text();
    const greeting = await firstLine(child.stdout).catch(async (error) => {
      throw new Error(await said, { cause: error });
    });
    const { address, keys }: Json = JSON.parse(greeting);
    const tls = { ca: readFileSync(`/proc/${child.pid}/root/var/lib/runnel/tls/cert.pem`, "utf8") };
    const headers = { authorization: `Bearer ${keys.test}`, "content-type": "application/json" };
    const post = async (path: string, body: object): Promise<Json> =>
      await (await fetch(address + path, { method: "POST", headers, body: JSON.stringify(body), tls })).json();
    const agent = await post("/v1/agents", { name: "Echo", instructions: "", model: "test/echo" });
    const run = await post("/v1/runs?wait=60", { agent_id: agent.id, input: "From a package." });
    expect(run).toMatchObject({ status: "completed", output: "From a package." });
    child.stdin.write("go on\n");
    child.stdin.end();
    const code = await child.exited;
    expect({ code, said: await said }).toEqual({ code: 0, said: expect.stringContaining("All of it is gone.") });
    expect(await said).toContain(build.version);
  }, 180_000);
});
