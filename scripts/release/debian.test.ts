import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { configSettings, inspectConfigFile } from "../../server/cli/commands/config-file.ts";
import { createProgram } from "../../server/cli/program.ts";
import { inProject } from "../root.ts";
import { debianArchitecture, debianData, debianFiles, debianPackage, debianVersion } from "./debian.ts";
import { targets } from "./targets.ts";

const program = Buffer.from("#!/bin/sh\necho runnel\n");
const files = debianFiles(program, [["NOTICES.txt", Buffer.from("Notices.\n")]]);
const archive = () =>
  debianPackage({ version: "1.2.3-rc.1", architecture: "amd64", files, data: ["data.tar", debianData(files)] });

describe.skipIf(Bun.which("dpkg-deb") === null)("the Debian package", () => {
  let folder: string;
  let path: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "runnel-deb-"));
    path = join(folder, "runnel.deb");
    writeFileSync(path, archive());
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  const dpkg = (...args: string[]) => {
    const { stdout, stderr, exitCode } = Bun.spawnSync(["dpkg-deb", ...args]);
    expect({ exitCode, stderr: stderr.toString() }).toEqual({ exitCode: 0, stderr: "" });
    return stdout.toString();
  };

  test("is read by dpkg-deb: its version, its processor, and the conffile", () => {
    const said = dpkg("--field", path, "Package", "Version", "Architecture", "Depends");
    expect(said).toContain("Package: runnel\nVersion: 1.2.3~rc.1\nArchitecture: amd64\n");
    expect(dpkg("--info", path, "conffiles")).toBe("/etc/runnel/runnel.toml\n");
  });

  test("has its files as root's, each folder before its content, with the modes that programs and settings need", () => {
    const lines = dpkg("--contents", path).trimEnd().split("\n");
    const listed = lines.map((line) => line.split(/\s+/)).map(([mode, owner, , , , name]) => [mode, owner, name!]);
    expect(listed).toContainEqual(["-rwxr-xr-x", "0/0", "./usr/bin/runnel"]);
    expect(listed).toContainEqual(["-rw-r--r--", "0/0", "./usr/lib/systemd/system/runnel.service"]);
    expect(listed).toContainEqual(["-rw-r--r--", "0/0", "./usr/share/doc/runnel/NOTICES.txt"]);
    const names = listed.map(([, , name]) => name!);
    for (const [index, name] of names.entries()) {
      if (name === "./") continue;
      const above = name.slice(0, name.lastIndexOf("/", name.length - 2) + 1);
      expect({ name, before: names.indexOf(above) >= 0 && names.indexOf(above) < index }).toEqual({
        name,
        before: true,
      });
    }
    dpkg("--extract", path, join(folder, "root"));
    expect(readFileSync(join(folder, "root/usr/bin/runnel"))).toEqual(program);
    expect(statSync(join(folder, "root/usr/bin/runnel")).mode & 0o777).toBe(0o755);
  });

  test("has checksums that its files match", () => {
    dpkg("--extract", path, join(folder, "checked"));
    const sums = Buffer.from(dpkg("--info", path, "md5sums"));
    const { exitCode } = Bun.spawnSync(["md5sum", "--check", "--strict"], {
      cwd: join(folder, "checked"),
      stdin: sums,
    });
    expect(exitCode).toBe(0);
  });
});

test("the Debian package has the same bytes whenever it is made", () => expect(archive()).toEqual(archive()));

test("its scripts are valid for a POSIX shell", () => {
  for (const name of ["postinst", "prerm", "postrm"]) {
    const { exitCode, stderr } = Bun.spawnSync(["sh", "-n", inProject("scripts/release/debian", name)]);
    expect({ name, exitCode, stderr: stderr.toString() }).toEqual({ name, exitCode: 0, stderr: "" });
  }
});

test("its settings are accepted, and its unit reads them from that file alone", () => {
  const serve = createProgram().commands.find((command) => command.name() === "serve")!;
  const settings = inspectConfigFile(inProject("scripts/release/debian/runnel.toml"), configSettings(serve));
  expect(settings).toEqual({
    found: { RUNNEL_DATA_DIR: "/var/lib/runnel", RUNNEL_LOG_FORMAT: "json" },
    faults: [],
    warnings: [],
  });
  const unit = files.find(([path]) => path.endsWith("runnel.service"))![1].toString();
  expect(unit).toContain("Environment=RUNNEL_CONFIG=/etc/runnel/runnel.toml\n");
  expect(unit).toContain("ExecStart=/usr/bin/runnel serve\nExecReload=/usr/bin/runnel restart\n");
  expect(unit.match(/^Environment=/gm)).toHaveLength(1);
});

test("a package is made for Debian's processors with glibc, and a pre-release precedes its release", () => {
  const made = targets.flatMap((target) => debianArchitecture(target) ?? []);
  expect(made).toEqual(["amd64", "arm64"]);
  expect([debianVersion("1.2.3"), debianVersion("1.2.3-rc.1")]).toEqual(["1.2.3", "1.2.3~rc.1"]);
});
