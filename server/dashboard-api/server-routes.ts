import { statfsSync } from "node:fs";
import { join } from "node:path";
import { Elysia } from "elysia";
import { Backup, ClusterInfo, ServerInfo } from "../domain/api-types/console.ts";
import type { SandboxLevel } from "../domain/api-types/enums.ts";
import { timestamp } from "../domain/time.ts";
import { withDeclaration } from "../http/operation.ts";
import { EmptyBody, pathWith } from "../http/schemas.ts";
import { build } from "../lib/build-info.ts";
import { availableModels } from "../runtime/retrieval/embeddings/models.ts";
import { ownModels } from "../runtime/retrieval/embeddings/own-models.ts";
import { type Backups, databaseBytes } from "./backups.ts";
import { ConsoleId } from "./schema.ts";
import type { SessionGuard } from "./session-guard.ts";

interface ServerRoutes {
  signedIn: SessionGuard;
  backups: Backups;
  sandbox: { known(): SandboxLevel | null };
  dataDir: string | null;
  started_at_ms: number;
  /** Returns the OpenAPI document of `GET /v1/openapi.json`. */
  openApi: () => string;
  /** The cell that this server leads; null on one machine. */
  cell: string | null;
  readCluster(): Promise<ClusterInfo>;
}

/** Routes for the facts of the server, its cluster, its OpenAPI document and its backups. */
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
      embedding_models: [...availableModels, ...ownModels(dataDir === null ? null : join(dataDir, "embedders"))],
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
    .get("/server", facts, { role: "viewer", ...withDeclaration({ returns: ServerInfo }) })
    .get("/cluster", async () => ({ object: "cluster", ...(await readCluster()) }), {
      role: "owner",
      ...withDeclaration({ returns: ClusterInfo }),
    })
    .get(
      "/openapi.json",
      async ({ set }) => {
        set.headers["content-type"] = "application/json";
        set.headers["cache-control"] = "no-store";
        return openApi(); // As text: adding a `request_id` would make it invalid OpenAPI.
      },
      { role: "viewer" },
    )
    .post("/backups", async ({ visitor, status }) => status(201, await backups.create(visitor.actor)), {
      role: "owner",
      body: EmptyBody,
      ...withDeclaration({ creates: Backup }),
    })
    .get("/backups/:id", ({ params: { id }, visitor }) => backups.download(id, visitor.actor), {
      role: "owner",
      params: pathWith({ id: ConsoleId }),
    });
}
