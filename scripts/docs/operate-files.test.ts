import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { createProgram } from "../../server/cli/program.ts";
import { variables } from "../../server/cli/variables.ts";
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

  test("sets variables that there are, and starts the server as a user of its own", () => {
    const set = lines.flatMap((line) => /^Environment=([A-Z_]+)=/.exec(line)?.[1] ?? []);
    expect(set).toContain("RUNNEL_DATA_DIR");
    expect(unknown(set)).toEqual([]);
    expect(lines).toContain("User=runnel");
    expect(lines).toContain("ExecStart=/usr/local/bin/runnel serve");
  });

  test.skipIf(!Bun.which("systemd-analyze"))("is left with as little as the documentation says", () => {
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

test("the compose file pins its images, sets variables that there are, and gives the server no right of root", () => {
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

test("Litestream follows the database that the compose file's server writes", () => {
  const { dbs } = Bun.YAML.parse(read("litestream.yml")) as {
    dbs: { path: string; replicas: { type: string }[] }[];
  };
  expect(dbs.map(({ path, replicas }) => [path, ...replicas.map(({ type }) => type)])).toEqual([
    ["/data/runnel.db", "s3"],
  ]);
});

test("the image runs as nobody, keeps its data in its one volume, and its commands are the executable's", () => {
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
