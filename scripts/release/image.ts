import { readFileSync } from "node:fs";
import { foldersAbove, type TarEntry, tarOf } from "../gzipped-tar.ts";
import { inProject } from "../root.ts";

/** User id of the Dockerfile's base image. */
export const nonroot = 65_532;

interface ImageContent {
  version: string;
  /** Build time in ISO 8601. */
  created: string;
  program: Uint8Array;
  /** Libraries of the program by their absolute paths. */
  libraries: readonly TarEntry[];
  /** Licences and notices by name. */
  documents: readonly TarEntry[];
}

/**
 * Returns an image for this machine's processor as an archive of `docker save` and of `podman save`, which is an OCI
 * layout too. It has the same settings as one made by the Dockerfile, and on the base the libraries alone.
 */
export function imageOf({ version, created, program, libraries, documents }: ImageContent): Buffer {
  const { runnel, folder, config } = settingsOf(readFileSync(inProject("server/docs/files/Dockerfile"), "utf8"));
  const users = `root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:${nonroot}:${nonroot}:nonroot:/nonexistent:/sbin/nologin\n`;
  const files: TarEntry[] = [
    ["etc/group", Buffer.from(`root:x:0:\nnonroot:x:${nonroot}:\n`)],
    ["etc/nsswitch.conf", Buffer.from("hosts: files dns\n")],
    ["etc/passwd", Buffer.from(users)],
    [runnel.slice(1), program, 0o755],
    ...libraries.map(([path, content]): TarEntry => [path.slice(1), content, 0o755]),
    ...documents.map(([name, content]): TarEntry => [`usr/share/doc/runnel/${name}`, content]),
  ];
  const folders: TarEntry[] = [
    ["tmp/", Buffer.alloc(0), 0o1777],
    [`${folder.slice(1)}/`, Buffer.alloc(0), 0o700, nonroot],
  ];
  const layer = tarOf([...foldersAbove(files.map(([path]) => path)), ...files, ...folders]);
  const blobs: TarEntry[] = [];
  const add = (mediaType: string, content: Buffer) => {
    const hash = new Bun.CryptoHasher("sha256").update(content).digest("hex");
    blobs.push([`blobs/sha256/${hash}`, content]);
    return { mediaType, digest: `sha256:${hash}`, size: content.length };
  };
  const json = (content: object) => Buffer.from(JSON.stringify(content));
  const oci = (kind: string) => `application/vnd.oci.image.${kind}`;

  const layers = [add(oci("layer.v1.tar"), layer)];
  const label = "org.opencontainers.image";
  const labels = { [`${label}.title`]: "runnel", [`${label}.version`]: version, [`${label}.licenses`]: "Apache-2.0" };
  const platform = { architecture: process.arch === "x64" ? "amd64" : process.arch, os: "linux" };
  const described = add(
    oci("config.v1+json"),
    json({
      created,
      ...platform,
      config: { ...config, Labels: labels },
      rootfs: { type: "layers", diff_ids: layers.map(({ digest }) => digest) },
      history: [{ created, created_by: "npm run release" }],
    }),
  );
  const manifest = add(
    oci("manifest.v1+json"),
    json({ schemaVersion: 2, mediaType: oci("manifest.v1+json"), config: described, layers }),
  );
  const tag = `runnel:${version}`;
  const annotations = {
    "io.containerd.image.name": `docker.io/library/${tag}`,
    "org.opencontainers.image.ref.name": version,
  };
  const index = {
    schemaVersion: 2,
    mediaType: oci("index.v1+json"),
    manifests: [{ ...manifest, platform, annotations }],
  };
  const pathOf = ({ digest }: { digest: string }) => `blobs/${digest.replace(":", "/")}`;
  const saved = [{ Config: pathOf(described), RepoTags: [tag], Layers: layers.map(pathOf) }];
  return tarOf([
    ["oci-layout", json({ imageLayoutVersion: "1.0.0" })],
    ["index.json", json(index)],
    ["manifest.json", json(saved)], // Read by older versions of Docker.
    ...foldersAbove(blobs.map(([path]) => path)),
    ...blobs,
  ]);
}

/** Returns what a Dockerfile's instructions set in an image. Throws if it has others than the expected ones. */
function settingsOf(dockerfile: string) {
  const lines = dockerfile.split("\n").flatMap((line) => {
    const [, name, rest] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
    return name ? [{ name, rest: rest! }] : [];
  });
  const allOf = (wanted: string) => lines.filter(({ name }) => name === wanted).map(({ rest }) => rest);
  const only = (wanted: string): string => {
    const [rest, ...more] = allOf(wanted);
    if (rest === undefined || more.length > 0) throw new Error(`The Dockerfile needs one line ${wanted}.`);
    return rest;
  };
  const commandIn = (rest: string): string[] => JSON.parse(/\[.*\]$/.exec(rest)![0]);
  const [health, folder] = [only("HEALTHCHECK"), only("VOLUME")];
  const nanoseconds = (flag: string) => Number(new RegExp(`--${flag}=(\\d+)s`).exec(health)![1]) * 1e9;
  const entrypoint = commandIn(only("ENTRYPOINT"));
  return {
    runnel: entrypoint[0]!,
    folder,
    config: {
      User: `${nonroot}:${nonroot}`,
      ExposedPorts: { [`${only("EXPOSE")}/tcp`]: {} },
      Env: allOf("ENV").flatMap((line) => line.split(" ")),
      Entrypoint: entrypoint,
      Cmd: commandIn(only("CMD")),
      Volumes: { [folder]: {} },
      WorkingDir: "/",
      StopSignal: only("STOPSIGNAL"),
      // Docker's own: the OCI format reserves the field for it.
      Healthcheck: {
        Test: ["CMD", ...commandIn(health)],
        Interval: nanoseconds("interval"),
        Timeout: nanoseconds("timeout"),
        StartPeriod: nanoseconds("start-period"),
      },
    },
  };
}
