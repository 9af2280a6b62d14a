import type { Chunking } from "../../domain/chunking.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Base, Module } from "../../http/module.ts";
import { createEventEmitter } from "../../lib/event-emitter.ts";
import type { LateRef } from "../../lib/late-ref.ts";
import { createDocumentReader } from "../../runtime/sandbox/document-reader.ts";
import { FileBlobs } from "../../storage/db/file-blobs.ts";
import type { Journals } from "../../storage/journal/module.ts";
import type { WebhooksModule } from "../webhooks/module.ts";
import { createAttachments } from "./attachments.ts";
import { download } from "./content.ts";
import { createDocumentChunks } from "./document-chunks.ts";
import { createDocumentWork } from "./document-work.ts";
import { createOutputs } from "./outputs.ts";
import { createPageImages } from "./page-images.ts";
import { Processing } from "./processing.ts";
import { fileRoutes } from "./routes.ts";
import { createFileStore, type FileMemory } from "./store.ts";
import { createUploader } from "./upload.ts";
import { createWorkspaces } from "./workspaces.ts";

export type FilesModule = ReturnType<typeof createFilesModule>;

interface Needs {
  base: Base;
  journals: Journals;
  webhooks: WebhooksModule;
  /** Late, because memory reads the documents of files. */
  memory: LateRef<FileMemory>;
}

/** Files: uploads, document text, and tool outputs. */
export function createFilesModule({ base, journals, webhooks, memory }: Needs) {
  const { announce, announced } = webhooks;
  const { db, log, sandbox, requireRoom, now } = base;
  const blobs = new FileBlobs({
    db,
    onError: (error) => log.error("content that no file has any more could not be deleted", { error }),
    now,
  });
  const reader = createDocumentReader({ level: sandbox.level });
  const chunks = createDocumentChunks({ db });
  const work = createDocumentWork({ db, now });
  // Emitted when a document was processed, is to be indexed, or was deleted.
  const moveEvents = createEventEmitter();
  const processing = new Processing({
    db,
    blobs,
    work,
    chunks,
    reader,
    log,
    announce,
    announced,
    indexedOf: (scope, id) => memory().of(scope, id),
    onRead: moveEvents.tell,
  });
  const files = createFileStore({
    ...base,

    blobs,
    work,
    chunks,
    announced,
    memory: {
      of: (scope, id) => memory().of(scope, id),
      add: (scope, order, expires_at_ms) => memory().add(scope, order, expires_at_ms),
      forget: (scope, id) => memory().forget(scope, id),
      retry: (scope, id) => memory().retry(scope, id),
    },
    process() {
      processing.wake();
      moveEvents.tell();
    },
    removed(id) {
      processing.forget(id);
      moveEvents.tell();
    },
    announce: (scope, file) => announce(scope, "file.ready", file),
  });
  const outputs = createOutputs({ files, now });
  const pageImages = createPageImages({ find: (scope, id) => work.find({ ...scope, id }), blobs, reader });
  const attachments = createAttachments({
    db,
    now,
    async draw(scope, file_id, count) {
      const images = await pageImages.of(scope, { file_id, count });
      return images?.length ?? 0;
    },
    read: (scope, id, length) => files.part(scope, id, 0, length)?.part ?? null,
  });
  moveEvents.listen(attachments.wake);
  journals.project(outputs.project);
  journals.project(files.projectImages);
  journals.project(files.projectGiven);
  // After the outputs, whose contents it may name.
  const workspaces = createWorkspaces({ db, blobs, outputs });
  journals.project(workspaces.project);
  journals.onCommit(outputs.committed);
  journals.onCommit(workspaces.committed);
  const receiver = createUploader({ blobs, requireRoom: () => requireRoom(true) });

  return {
    routes: (auth) => [fileRoutes({ auth, files, pageImages, receiver })],
    store: files,
    blobs,
    download,
    outputs,
    workspaces,
    attachments,
    pageImages,
    processing,
    readPart(scope: Scope, id: string, start: number, length: number) {
      const part = files.part(scope, id, start, length);
      return part && { filename: part.filename, bytes: part.bytes, content: part.part.toBase64() };
    },
    /** Document functions that memory stores use. */
    documents: {
      reading: files.reading,
      chunks: chunks.read,
      demand: (scope: Scope, id: string, chunking: Chunking) => work.demand({ ...scope, id }, chunking),
      settle: (scope: Scope, id: string) => processing.settle(scope, id),
    },
    onMoved: moveEvents.listen,
    deleteExpired: [files.forgetExpired, () => blobs.forgetUnused()],
    start(): void {
      blobs.collectSoon();
      processing.start();
    },
    onProjectArrived(): void {
      blobs.collectSoon();
      processing.wake();
      moveEvents.tell();
    },
    async stop(): Promise<void> {
      await processing.stop();
      pageImages.stop();
      reader.stop();
      await Promise.all([blobs.stop(), files.stop()]);
    },
  } satisfies Module;
}
