import { statfsSync } from "node:fs";
import { join } from "node:path";
import { Elysia } from "elysia";
import { timestamp } from "../core/time.ts";
import { declared } from "../http/operation.ts";
import { NoBody, pathWith } from "../http/schemas.ts";
import { build } from "../lib/build-info.ts";
import { modelsHere } from "../retrieval/embed/models.ts";
import { ownModels } from "../retrieval/embed/own-models.ts";
import { Backup, ClusterInfo, ServerInfo } from "../wire/console.ts";
import type { SandboxLevel } from "../wire/names.ts";
import { type Backups, databaseBytes } from "./backups.ts";
import { ConsoleId } from "./schema.ts";
import type { SignedIn } from "./signed-in.ts";

interface ServerRoutes {
  signedIn: SignedIn;
  backups: Backups;
  sandbox: { known(): SandboxLevel | null };
  dataDir: string | null;
  started_at_ms: number;
  /** The API in OpenAPI, as `GET /v1/openapi.json` tells it. */
  openApi: () => string;
  /** The cell that is led here; null on one machine. */
  cell: string | null;
  readCluster(): Promise<ClusterInfo>;
}

/** What this server is, what it has, and a copy of it. */
export function serverRoutes({
  signedIn,
  backups,
  sandbox,
  dataDir,
  started_at_ms,
  openApi,
  cell,
  readCluster,
}: ServerRoutes) {
  function facts() {
    const disk = dataDir === null ? null : statfsSync(dataDir);
    return {
      object: "server",
      version: build.version,
      commit: build.commit,
      built_at: build.date,
      started_at: timestamp(started_at_ms),
      embedding_models: [...modelsHere, ...ownModels(dataDir === null ? null : join(dataDir, "embedders"))],
      sandbox_level: sandbox.known(),
      data_dir: dataDir,
      database_bytes: dataDir === null ? null : databaseBytes(dataDir),
      free_bytes: disk && disk.bavail * disk.bsize,
      disk_bytes: disk && disk.blocks * disk.bsize,
      cell,
    };
  }

  return new Elysia({ prefix: "/console/api" })
    .use(signedIn)
    .get("/server", facts, { role: "viewer", ...declared({ returns: ServerInfo }) })
    .get("/cluster", async () => ({ object: "cluster", ...(await readCluster()) }), {
      role: "owner",
      ...declared({ returns: ClusterInfo }),
    })
    .get(
      "/openapi.json",
      async ({ set }) => {
        set.headers["content-type"] = "application/json";
        set.headers["cache-control"] = "no-store";
        return openApi(); // Text: a `request_id` among its fields would make it another format.
      },
      { role: "viewer" },
    )
    .post("/backups", async ({ visitor, status }) => status(201, await backups.create(visitor.actor)), {
      role: "owner",
      body: NoBody,
      ...declared({ creates: Backup }),
    })
    .get("/backups/:id", ({ params: { id }, visitor }) => backups.download(id, visitor.actor), {
      role: "owner",
      params: pathWith({ id: ConsoleId }),
    });
}
