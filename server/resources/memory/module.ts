import type { Environment } from "../../domain/scope.ts";
import type { Base, Module } from "../../http/module.ts";
import type { Pay } from "../../runtime/models/spend-guard.ts";
import { createEmbedders, type Embedders, type EmbeddersOptions } from "../../runtime/retrieval/embeddings/embedder.ts";
import { ownModelsFolder } from "../../runtime/retrieval/embeddings/own-models.ts";
import { createSearcher } from "../../runtime/retrieval/vector-search/searcher.ts";
import { createEmbeddingChooser } from "./embedding.ts";
import { createEntryStore, type EntryStoreOptions } from "./entries.ts";
import { createFileEntries } from "./file-entries.ts";
import { createIndexer, type IndexerOptions } from "./indexer.ts";
import { createKeyStore } from "./keys.ts";
import { createRankMatches } from "./rerank.ts";
import { entryRoutes, keyRoutes, memoryRoutes } from "./routes.ts";
import { createMemorySearch } from "./search.ts";
import { createMemoryStores } from "./store.ts";
import { createMemorySweeper } from "./sweeper.ts";

export interface MemoryOptions {
  /** Embedders; default: the built-in model and those of the operator's connections. */
  embedders?: Embedders;
}

/** The files module's functions that memory uses. */
interface FilePorts {
  documents: IndexerOptions["documents"];
  files: { document: EntryStoreOptions["fileFor"] };
  processing: { wake(): void; look(): Promise<unknown> };
  onMoved(hear: () => void): void;
}

/** Memory stores, their entries and keys, and search. */
export function createMemoryModule({
  connections,
  files: { documents, files, processing, onMoved },
  announcing: { announced },
  usage: { pay },
  embedders: givenEmbedders,
  ...base
}: Base &
  MemoryOptions & {
    connections: { resolve(model: string, environment: Environment): ReturnType<EmbeddersOptions["resolve"]> };
    files: FilePorts;
    announcing: { announced: () => void };
    usage: { pay: Pay };
  }) {
  const { db, database, log, now } = base;
  const embedders =
    givenEmbedders ??
    createEmbedders({
      resolve: (model) => connections.resolve(model, "live"),
      pay,
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
    void processing.look().catch(() => {}); // A timer retries.
  };
  const indexer = createIndexer({
    db,
    embedders,
    documents,
    log,
    now,
    ended: announced,
    demanded: processing.wake,
    forget: searcher.forget,
  });
  onMoved(indexer.wake);
  const stores = createMemoryStores({
    ...base,
    onDelete,
    progressOf: indexer.progressOf,
    onEmbedding: indexer.changed,
    embeddings: createEmbeddingChooser({ embedders }),
  });
  const entries = createEntryStore({ ...base, stores, fileFor: files.document, onDelete, indexer });
  const keys = createKeyStore({ db, stores, now });
  const search = createMemorySearch({
    db,
    stores,
    searcher,
    embedders,
    now,
    rank: createRankMatches({ resolve: connections.resolve, pay }),
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
    exports: {
      embedders,
      stores,
      entries,
      keys,
      search,
      indexer,
      sweeper,
      /** Operations of memory stores on files. */
      ofFiles: { ...createFileEntries({ db, now }), add: entries.addFile, forget: entries.forgetFile },
      eraseFirst: sweeper.eraseOfProject,
    },
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
