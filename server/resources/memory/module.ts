import type { Scope, ScopeColumns } from "../../domain/scope.ts";
import type { Base, Module } from "../../http/module.ts";
import { createEmbedders, type Embedders } from "../../runtime/retrieval/embeddings/embedder.ts";
import { ownModelsFolder } from "../../runtime/retrieval/embeddings/own-models.ts";
import { createSearcher } from "../../runtime/retrieval/vector-search/searcher.ts";
import type { Db } from "../../storage/db/open.ts";
import type { FilesModule } from "../files/module.ts";
import type { ConnectionsModule } from "../model-connections/module.ts";
import type { UsageModule } from "../usage/module.ts";
import type { WebhooksModule } from "../webhooks/module.ts";
import { createEmbeddingChooser } from "./embedding.ts";
import { createEntryStore } from "./entries.ts";
import { createIndexer } from "./indexer.ts";
import { createKeyStore } from "./keys.ts";
import { createRankMatches } from "./rerank.ts";
import { entryRoutes, keyRoutes, memoryRoutes } from "./routes.ts";
import type { EntryRow } from "./row.ts";
import { createMemorySearch } from "./search.ts";
import { createMemoryStores } from "./store.ts";
import { createMemorySweeper } from "./sweeper.ts";

export interface MemoryOptions {
  /** Embedders; default: the built-in model and those of the operator's connections. */
  embedders?: Embedders;
}

export type MemoryModule = ReturnType<typeof createMemoryModule>;

interface Needs {
  base: Base;
  options: MemoryOptions;
  connections: ConnectionsModule;
  files: FilesModule;
  webhooks: WebhooksModule;
  usage: UsageModule;
}

/** Memory stores, their entries and keys, and search. */
export function createMemoryModule({ base, options, connections, files, webhooks, usage }: Needs) {
  const { db, database, log, now } = base;
  const embedders =
    options.embedders ??
    createEmbedders({
      resolve: (model) => connections.store.resolveHere(model, "live"),
      pay: usage.pay,
      log,
      folder: database ? ownModelsFolder(database) : null,
    });
  const searcher = createSearcher({ path: database ?? null, sqlite: db.sqlite, log });
  const sweeper = createMemorySweeper({
    db,
    forgetStore: searcher.forget,
    forgetChunks: searcher.removed,
    onError: (error) => log.error("the rest of deleted memory could not be removed", { error }),
    now,
  });
  /** Settles files that waited for a deleted entry or store. */
  const onDelete = () => {
    sweeper.collectSoon();
    void files.processing.look().catch(() => {}); // A timer retries.
  };
  const indexer = createIndexer({
    db,
    embedders,
    documents: files.documents,
    log,
    now,
    ended: webhooks.announced,
    demanded: files.processing.wake,
    forget: searcher.forget,
  });
  files.onMoved(indexer.wake);
  const stores = createMemoryStores({
    ...base,
    onDelete,
    progressOf: indexer.progressOf,
    onEmbedding: indexer.changed,
    embeddings: createEmbeddingChooser({ embedders }),
  });
  const entries = createEntryStore({ ...base, stores, fileFor: files.store.document, onDelete, indexer });
  const keys = createKeyStore({ db, findStore: stores.find, now });
  const search = createMemorySearch({
    db,
    findStore: stores.find,
    searcher,
    embedders,
    now,
    rank: createRankMatches({ resolve: connections.store.resolveHere, pay: usage.pay }),
  });

  const selectNumbers = db.sqlite.query<{ number: number }, [string]>(
    "SELECT number FROM memory_stores WHERE project_id = ?",
  );

  return {
    routes: (auth) => [
      memoryRoutes({ auth, stores, search }),
      entryRoutes({ auth, entries }),
      keyRoutes({ auth, keys }),
    ],
    embedders,
    stores,
    entries,
    keys,
    search,
    indexer,
    sweeper,
    /** Operations of memory stores on files. */
    ofFiles: { ...createFileEntries({ db, now }), add: entries.addFile, forget: entries.forgetFile },
    deleteExpired: [keys.forgetExpired, sweeper.forgetExpired, sweeper.forgetDeleted],
    start(): void {
      sweeper.collectSoon();
      indexer.start();
    },
    onProjectArrived(): void {
      sweeper.collectSoon();
      indexer.changed();
    },
    onProjectLeaving(projectId) {
      const stores = selectNumbers.all(projectId);
      return () => {
        for (const { number } of stores) searcher.forget(number);
      };
    },
    async stop(): Promise<void> {
      await indexer.stop();
      searcher.stop();
      await Promise.all([sweeper.stop(), embedders.stop()]);
    },
  } satisfies Module;
}

type Row = Pick<EntryRow, "memory_id" | "status" | "error" | "processed" | "total">;

/** Entries of a file in all memory stores. */
function createFileEntries({ db: { sqlite }, now = Date.now }: { db: Db; now?: () => number }) {
  const selectLive = sqlite.query<Row, ScopeColumns & { fileId: string; now: number }>(
    `SELECT e.memory_id, e.status, e.error, e.processed, e.total FROM memory_entries e
     JOIN memory_stores s ON s.project_id = e.project_id AND s.environment = e.environment AND s.id = e.memory_id
     WHERE e.project_id = $project_id AND e.environment = $environment AND e.file_id = $fileId AND e.deleted_at_ms IS NULL
       AND s.deleted_at_ms IS NULL AND (e.expires_at_ms IS NULL OR e.expires_at_ms > $now) ORDER BY e.id`,
  );
  const retrying = sqlite.query(
    `UPDATE memory_entries SET status = 'processing', error = NULL, updated_at_ms = $now
     WHERE project_id = $project_id AND environment = $environment AND file_id = $fileId AND status = 'failed' AND deleted_at_ms IS NULL`,
  );

  return {
    of({ project_id, environment }: Scope, fileId: string) {
      const rows = selectLive.all({ project_id, environment, fileId, now: now() });
      const errorOf = (entryStatus: EntryRow["status"]) => {
        const { error } = rows.find(({ status, error }) => status === entryStatus && error !== null) ?? {};
        return error ? (JSON.parse(error) as { code: string; message: string }) : null;
      };
      return {
        memory_ids: [...new Set(rows.map(({ memory_id }) => memory_id))],
        processed: rows.reduce((sum, { processed }) => sum + processed, 0),
        total: rows.reduce<number | null>((sum, { total }) => (sum === null || total === null ? null : sum + total), 0),
        processing: rows.filter(({ status }) => status === "processing").length,
        error: errorOf("failed"),
        delay: errorOf("processing"),
      };
    },

    /** Retries failed entries and returns their number. Call inside a write. */
    retry: ({ project_id, environment }: Scope, fileId: string): number =>
      retrying.run({ project_id, environment, fileId, now: now() }).changes,
  };
}
