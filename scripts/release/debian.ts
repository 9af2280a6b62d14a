import { readFileSync } from "node:fs";
import { sysusers } from "../../server/cli/commands/install.ts";
import { foldersAbove, mtime, type TarEntry, tarOf } from "../gzipped-tar.ts";
import { inProject } from "../root.ts";
import type { Target } from "./targets.ts";

/** Returns Debian's name of a platform's processor; null if Debian does not have the platform. */
export function debianArchitecture({ name }: Target): "amd64" | "arm64" | null {
  return name === "linux-x64" ? "amd64" : name === "linux-arm64" ? "arm64" : null;
}

/** A pre-release of runnel precedes its release, as `~` says to dpkg. */
export const debianVersion = (version: string): string => version.replace("-", "~");

/** Returns the files of the package by path from the root. `documents` go beside the licence, by their names. */
export function debianFiles(program: Uint8Array, documents: readonly TarEntry[]): TarEntry[] {
  return [
    ["etc/runnel/runnel.toml", fileOf("runnel.toml")],
    ["usr/bin/runnel", program, 0o755],
    ["usr/lib/systemd/system/runnel.service", Buffer.from(packagedUnit())],
    ["usr/lib/sysusers.d/runnel.conf", Buffer.from(sysusers)],
    ["usr/share/doc/runnel/copyright", Buffer.from(copyright)],
    ...documents.map(([name, content]): TarEntry => [`usr/share/doc/runnel/${name}`, content]),
  ];
}

/** Returns the archive of the files, which dpkg unpacks at the root. */
export const debianData = (files: readonly TarEntry[]): Buffer => tarOf(belowDot(files));

interface Control {
  version: string;
  architecture: string;
  files: readonly TarEntry[];
  /** The archive of the files, and its name: `data.tar` and the ending of its compression. */
  data: readonly [name: string, bytes: Uint8Array];
}

/** Returns the Debian package: an archive of `ar` with the format's version, the control files, and the data. */
export function debianPackage({ version, architecture, files, data }: Control): Buffer {
  const installed_bytes = files.reduce((sum, [, { length }]) => sum + length, 0);
  const control = `Package: runnel
Version: ${debianVersion(version)}
Section: net
Priority: optional
Architecture: ${architecture}
Maintainer: runnel <runnel@localhost>
Installed-Size: ${Math.ceil(installed_bytes / 1024)}
Depends: libc6 (>= 2.17), systemd | systemd-standalone-sysusers
Description: self-hosted agent runtime in one executable
 runnel runs AI agents behind an HTTP API: it calls models, runs tools,
 streams every event and records every step in one folder of data. A run
 continues after a crash from its last completed step.
`;
  const sums = files.map(
    ([path, content]) => `${new Bun.CryptoHasher("md5").update(content).digest("hex")}  ${path}\n`,
  );
  const script = (name: string): TarEntry => [name, fileOf(name), 0o755];
  const about: TarEntry[] = [
    ["conffiles", Buffer.from("/etc/runnel/runnel.toml\n")],
    ["control", Buffer.from(control)],
    ["md5sums", Buffer.from(sums.join(""))],
    script("postinst"),
    script("postrm"),
    script("prerm"),
  ];
  return arOf([["debian-binary", Buffer.from("2.0\n")], ["control.tar", tarOf(belowDot(about))], data]);
}

const fileOf = (name: string): Buffer => readFileSync(inProject("scripts/release/debian", name));

/** As dpkg-deb writes paths, with every folder. */
function belowDot(files: readonly TarEntry[]): TarEntry[] {
  const named = files.map(([path, ...rest]): TarEntry => [`./${path}`, ...rest]);
  return [...foldersAbove(named.map(([path]) => path)), ...named];
}

/** Returns the unit of the documentation with the package's paths. Its settings are in the configuration file. */
function packagedUnit(): string {
  const unit = readFileSync(inProject("server/docs/files/runnel.service"), "utf8");
  const packaged = unit
    .replaceAll("/usr/local/bin/runnel", "/usr/bin/runnel")
    .replace(
      /^Environment=RUNNEL_DATA_DIR=.*\nEnvironment=RUNNEL_LOG_FORMAT=.*$/m,
      "# Flags, and secrets of the server.\nEnvironment=RUNNEL_CONFIG=/etc/runnel/runnel.toml",
    );
  if (/RUNNEL_DATA_DIR|RUNNEL_LOG|\/usr\/local/.test(packaged)) throw new Error("runnel.service is not as expected.");
  return packaged;
}

const copyright = `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: runnel
Comment: The executable contains software of others. NOTICES.txt in this folder
 has each component with its copyright and its licence, and sbom.cdx.json lists
 them for programs.

Files: *
Copyright: The authors of runnel
License: Apache-2.0

License: Apache-2.0
 On Debian systems /usr/share/common-licenses/Apache-2.0 has the licence's text.
`;

/** Returns an archive in the format of `ar`. */
function arOf(members: readonly (readonly [name: string, bytes: Uint8Array])[]): Buffer {
  const blocks = members.flatMap(([name, bytes]) => {
    const fields = [
      name.padEnd(16),
      `${mtime}`.padEnd(12),
      "0     ",
      "0     ",
      "100644  ",
      `${bytes.length}`.padEnd(10),
    ];
    return [Buffer.from(`${fields.join("")}\`\n`), bytes, Buffer.alloc(bytes.length % 2, "\n")];
  });
  return Buffer.concat([Buffer.from("!<arch>\n"), ...blocks]);
}
