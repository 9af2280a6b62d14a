import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { temporaryFolder } from "../../server/testing/temporary.ts";
import { imageOf, nonroot } from "./image.ts";

const content = {
  version: "1.2.3",
  created: "2026-01-02T03:04:05.000Z",
  program: Buffer.from("#!/bin/sh\n"),
  libraries: [["/lib/x86_64-linux-gnu/libc.so.6", Buffer.from("C")]] as const,
  documents: [["LICENSE", Buffer.from("Free.")]] as const,
};
const filesOf = async (archive: Uint8Array) => await new Bun.Archive(archive).files();

test("each blob of the image is what its digest says, down from the index and from Docker's manifest", async () => {
  const files = await filesOf(imageOf(content));
  const bytesOf = async (path: string) => Buffer.from(await files.get(path)!.bytes());
  const json = async (path: string) => JSON.parse((await bytesOf(path)).toString());
  const blob = async ({ digest, size }: { digest: string; size?: number }) => {
    const bytes = await bytesOf(`blobs/${digest.replace(":", "/")}`);
    expect(`sha256:${new Bun.CryptoHasher("sha256").update(bytes).digest("hex")}`).toBe(digest);
    if (size !== undefined) expect(bytes.length).toBe(size);
    return bytes;
  };
  expect(await json("oci-layout")).toEqual({ imageLayoutVersion: "1.0.0" });
  const [listed] = (await json("index.json")).manifests;
  const manifest = JSON.parse((await blob(listed)).toString());
  const config = JSON.parse((await blob(manifest.config)).toString());
  await Promise.all(manifest.layers.map(blob));
  expect(config.rootfs.diff_ids).toEqual(manifest.layers.map(({ digest }: { digest: string }) => digest));
  const pathOf = ({ digest }: { digest: string }) => `blobs/${digest.replace(":", "/")}`;
  expect(await json("manifest.json")).toEqual([
    { Config: pathOf(manifest.config), RepoTags: ["runnel:1.2.3"], Layers: manifest.layers.map(pathOf) },
  ]);
  expect(config.config).toMatchObject({
    User: `${nonroot}:${nonroot}`,
    Env: ["RUNNEL_DATA_DIR=/data", "RUNNEL_HOST=0.0.0.0", "RUNNEL_LOG_FORMAT=json"],
    ExposedPorts: { "8443/tcp": {} },
    Volumes: { "/data": {} },
    Entrypoint: ["/usr/local/bin/runnel"],
    Cmd: ["serve"],
    StopSignal: "SIGTERM",
    Healthcheck: { Test: ["CMD", "/usr/local/bin/runnel", "health"], Interval: 10e9, Timeout: 5e9, StartPeriod: 30e9 },
  });
});

test("the image's files are root's, but for the data directory, which its user alone may enter", async () => {
  const files = await filesOf(imageOf(content));
  const layers = await Promise.all(
    [...files]
      .filter(([path]) => path.startsWith("blobs/sha256/"))
      .map(async ([, file]) => Buffer.from(await file.bytes())),
  );
  const layer = layers.find((bytes) => bytes.toString("latin1", 257, 262) === "ustar")!;
  const { stdout } = Bun.spawnSync(["tar", "--numeric-owner", "-tv"], { stdin: layer });
  const lines = stdout
    .toString()
    .trimEnd()
    .split("\n")
    .map((line) => line.split(/\s+/));
  const listed = Object.fromEntries(lines.map(([mode, owner, , , , name]) => [name, `${mode} ${owner}`]));
  expect(listed).toMatchObject({
    "data/": `drwx------ ${nonroot}/${nonroot}`,
    "tmp/": "drwxrwxrwt 0/0",
    "usr/local/bin/": "drwxr-xr-x 0/0",
    "usr/local/bin/runnel": "-rwxr-xr-x 0/0",
    "lib/x86_64-linux-gnu/libc.so.6": "-rwxr-xr-x 0/0",
    "usr/share/doc/runnel/LICENSE": "-rw-r--r-- 0/0",
  });
});

test("the image has the same bytes whenever it is made", () => expect(imageOf(content)).toEqual(imageOf(content)));

const readers = ["skopeo", "umoci"].filter((name) => !Bun.which(name));

test.skipIf(readers.length > 0)(
  `skopeo reads the image, and umoci unpacks it${readers.length > 0 ? ` (not installed: ${readers.join(", ")})` : ""}`,
  async () => {
    using folder = temporaryFolder();
    const run = (...command: string[]) => {
      const { exitCode, stdout, stderr } = Bun.spawnSync(command, { cwd: folder.path });
      expect({ command, exitCode, stderr: exitCode === 0 ? "" : stderr.toString() }).toMatchObject({ exitCode: 0 });
      return stdout.toString();
    };
    await new Bun.Archive(imageOf(content)).extract(folder.file("image"));
    expect(JSON.parse(run("skopeo", "inspect", "oci:image"))).toMatchObject({
      Architecture: "amd64",
      Os: "linux",
      Labels: { "org.opencontainers.image.version": "1.2.3" },
    });
    expect(JSON.parse(run("skopeo", "inspect", "--config", "oci:image")).config.Cmd).toEqual(["serve"]);
    run("umoci", "unpack", "--rootless", "--image", "image:1.2.3", "bundle");
    const program = readFileSync(folder.file("bundle/rootfs/usr/local/bin/runnel"));
    expect(program).toEqual(content.program);
  },
);
