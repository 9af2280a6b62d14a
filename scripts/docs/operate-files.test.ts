import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { exitCodes } from "../../server/cli/commands/exit-code.ts";
import { createProgram } from "../../server/cli/program.ts";
import { variables } from "../../server/cli/serve/variables.ts";
import { inProject } from "../root.ts";
import { commandsOf, flagsOf } from "./commands.ts";

const path = (name: string) => inProject("server/docs/files", name);
const read = (name: string) => readFileSync(path(name), "utf8");

const program = createProgram();
const known = new Set([
  ...commandsOf(program).flatMap(({ command }) => flagsOf(command).map(({ envVar }) => envVar)),
  ...variables.map(({ name }) => name),
]);
const unknown = (names: readonly string[]) => names.filter((name) => name.startsWith("RUNNEL_") && !known.has(name));

describe("the unit for systemd", () => {
  const lines = read("runnel.service").split("\n");

  test("sets existing variables, and starts the server as its own user", () => {
    const set = lines.flatMap((line) => /^Environment=([A-Z_]+)=/.exec(line)?.[1] ?? []);
    expect(set).toContain("RUNNEL_DATA_DIR");
    expect(unknown(set)).toEqual([]);
    expect(lines).toContain("User=runnel");
    expect(lines).toContain("ExecStart=/usr/local/bin/runnel serve");
  });

  test("restarts a server that has exited, except with a permanent fault", () => {
    expect(lines).toContain("Restart=always");
    expect(lines).toContain(`RestartPreventExitStatus=${exitCodes.usage} ${exitCodes.too_new}`);
  });

  test.skipIf(!Bun.which("systemd-analyze"))("has as few privileges as the documentation says", () => {
    const command = ["systemd-analyze", "security", "--offline=true", path("runnel.service")];
    const { stdout, exitCode } = Bun.spawnSync(command, { env: { ...process.env, LC_ALL: "C.UTF-8" } });
    const [, exposure] = /exposure level for runnel.service: ([\d.]+)/.exec(stdout.toString()) ?? [];
    expect({ exitCode, said: Number(exposure) <= 2 }).toEqual({ exitCode: 0, said: true });
  });
});

interface Service {
  image?: string;
  environment?: Record<string, string>;
  read_only?: boolean;
  cap_drop?: string[];
  volumes?: string[];
}

test("the compose file pins its images, sets existing variables, and gives the server no root privilege", () => {
  const { services, volumes } = Bun.YAML.parse(read("compose.yaml")) as {
    services: Record<string, Service>;
    volumes: Record<string, unknown>;
  };
  const images = Object.values(services).flatMap(({ image }) => image ?? []);
  expect(images.filter((image) => !/:(RELEASE\.)?\d[\w.-]+$/.test(image))).toEqual([]);
  expect(services.runnel).toMatchObject({ read_only: true, cap_drop: ["ALL"] });
  expect(unknown(Object.keys(services.runnel?.environment ?? {}))).toEqual([]);
  const mounted = Object.values(services).flatMap(({ volumes = [] }) => volumes.map((volume) => volume.split(":")[0]!));
  expect(mounted.filter((name) => !name.startsWith("."))).toEqual(expect.arrayContaining(Object.keys(volumes)));
});

test("a node of the compose file for a cluster has the rights of the single server, and existing variables", () => {
  const [{ node }, { runnel }] = ["compose-cluster.yaml", "compose.yaml"].map(
    (name) => (Bun.YAML.parse(read(name)) as { services: Record<string, Service> }).services,
  ) as [Record<string, Service>, Record<string, Service>];
  const { read_only, cap_drop, environment = {} } = node!;
  expect({ read_only, cap_drop }).toEqual({ read_only: runnel!.read_only, cap_drop: runnel!.cap_drop });
  expect(Object.keys(environment).sort()).toEqual(["RUNNEL_CLUSTER", "RUNNEL_MASTER_KEY"]);
  expect(unknown(Object.keys(environment))).toEqual([]);
});

// biome-ignore lint/suspicious/noExplicitAny: objects of Kubernetes, of which a few fields are looked at.
type KubernetesObject = any;

describe("the manifests for Kubernetes", () => {
  const objects = Bun.YAML.parse(read("kubernetes.yaml")) as KubernetesObject[];
  const of = (kind: string): KubernetesObject => objects.find((object) => object.kind === kind);
  const { spec } = of("Deployment");
  const pod = spec.template.spec;
  const [container] = pod.containers;

  test("use existing Kubernetes versions, and each selects the Deployment's pods", () => {
    expect(objects.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`)).toEqual([
      "v1 Secret",
      "apps/v1 Deployment",
      "v1 Service",
      "policy/v1 PodDisruptionBudget",
    ]);
    const { labels } = spec.template.metadata;
    expect([spec.selector.matchLabels, of("Service").spec.selector]).toEqual([labels, labels]);
    expect(of("PodDisruptionBudget").spec.selector.matchLabels).toEqual(labels);
    expect(container.envFrom).toEqual([{ secretRef: { name: of("Secret").metadata.name } }]);
    expect(of("Service").spec.ports[0].targetPort).toBe(container.ports[0].name);
  });

  // Variables of a Service begin with its name, and are set in each pod that starts after it.
  test("choose names whose Kubernetes Service variables the server does not read", () => {
    const service = of("Service").metadata.name.toUpperCase();
    const set = [`${service}_PORT`, `${service}_SERVICE_HOST`];
    expect({ taken: set.filter((name) => known.has(name)), links: pod.enableServiceLinks }).toEqual({
      taken: ["RUNNEL_PORT"],
      links: false,
    });
  });

  test("keep a node while another one starts, and prevent the eviction of all of them", () => {
    expect(spec.replicas).toBeGreaterThan(of("PodDisruptionBudget").spec.minAvailable);
    expect(spec.strategy.rollingUpdate.maxUnavailable).toBe(0);
    expect(container.livenessProbe.httpGet).toBeUndefined();
    expect(container.readinessProbe.httpGet).toEqual({ path: "/healthz", port: "https", scheme: "HTTPS" });
  });

  test("set existing variables, mount the named volumes, and give no root privilege", () => {
    const names = [...container.env.map(({ name }: { name: string }) => name), ...Object.keys(of("Secret").stringData)];
    expect(names).toEqual(expect.arrayContaining(["RUNNEL_CLUSTER", "RUNNEL_MASTER_KEY", "RUNNEL_DATA_DIR"]));
    expect(unknown(names)).toEqual([]);
    const mounted = container.volumeMounts.map(({ mountPath }: { mountPath: string }) => `${mountPath}/`);
    for (const { value } of container.env) expect(mounted.some((path: string) => value.startsWith(path))).toBe(true);
    const volumes = pod.volumes.map(({ name }: { name: string }) => name);
    expect(container.volumeMounts.map(({ name }: { name: string }) => name)).toEqual(volumes);
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 65532 });
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
  });
});

test("Litestream follows the database of the compose file's server", () => {
  const { dbs } = Bun.YAML.parse(read("litestream.yml")) as {
    dbs: { path: string; replicas: { type: string }[] }[];
  };
  expect(dbs.map(({ path, replicas }) => [path, ...replicas.map(({ type }) => type)])).toEqual([
    ["/data/runnel.db", "s3"],
  ]);
});

test("the image runs as an unprivileged user, keeps its data in its one volume, and its commands are the executable's", () => {
  const instructions = read("Dockerfile")
    .split("\n")
    .flatMap((line) => (/^[A-Z]+ /.test(line) ? [line.split(" ", 1).concat(line.slice(line.indexOf(" ") + 1))] : []));
  const of = (name: string) => instructions.flatMap(([key, rest]) => (key === name ? [rest!] : []));
  expect(of("FROM")).toEqual([expect.stringMatching(/^gcr\.io\/distroless\/.+:nonroot$/)]);
  expect(of("VOLUME")).toEqual(["/data"]);
  const set = of("ENV").flatMap((line) => [...line.matchAll(/([A-Z_]+)=/g)].map(([, name]) => name!));
  expect(set).toContain("RUNNEL_DATA_DIR");
  expect(unknown(set)).toEqual([]);
  const names = commandsOf(program).map(({ name }) => name);
  expect(names).toContain(JSON.parse(of("CMD")[0]!)[0]);
  expect(names).toContain(JSON.parse(/CMD (.*)$/.exec(of("HEALTHCHECK")[0]!)![1]!)[1]);
});
