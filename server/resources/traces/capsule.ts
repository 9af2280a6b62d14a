import { isId } from "../../domain/ids.ts";
import { notFound } from "../../domain/not-found.ts";
import type { RunCreated } from "../../domain/run-event.ts";
import { nameOf } from "../../domain/scope.ts";
import { requireAgent, type Viewer } from "../../http/auth.ts";
import { lastItem } from "../../lib/collections.ts";
import { createYielder } from "../../lib/cooperative-yield.ts";
import { createFairQueue } from "../../lib/fair-queue/queue.ts";
import type { Journal } from "../../storage/journal/journal.ts";
import { type CapsuleFilesOptions, createCapsuleFiles, type FilesWriter } from "./capsule-files.ts";
import { type CapsuleWriter, createCapsuleWriter } from "./capsule-writer.ts";
import { ignoreClientAbort } from "./ignore-client-abort.ts";
import type { Pause } from "./import-run.ts";
import type { Workspace } from "./workspace.ts";

interface RunRow {
  id: string;
  agent_id: string;
  status: string;
  seq: number;
}

interface CapsuleOptions extends CapsuleFilesOptions {
  journal: Journal;
  workspace: Workspace;
}

export type Capsules = ReturnType<typeof createCapsules>;

const entriesPerRead = 16;
// One capsule per owner, and one more for another owner, because each takes disk space.
const places = { count: 2, reserve: 1 };

/** Exports runs as files (contract, section 16), with their descendants and without secrets. */
export function createCapsules({ journal, workspace, ...rest }: CapsuleOptions) {
  const { db, requireRoom, now } = rest;
  const openFiles = createCapsuleFiles(rest);
  const select = db.sqlite.query<RunRow, [string, string, string]>(
    `SELECT id, agent_id, status, seq FROM runs
     WHERE project_id = ? AND environment = ? AND id = ? AND summary IS NULL`,
  );
  const find = ({ project_id, environment }: Viewer, id: string): RunRow | null =>
    select.get(project_id, environment, id);
  const queue = createFairQueue(places);

  /** Depth first, in the order of the calls. Runs of a replay or fork are children of the original run. */
  async function write(viewer: Viewer, root: RunRow, capsule: CapsuleWriter, files: FilesWriter, pause: Pause) {
    const visitedRuns = new Set<string>();
    const pendingRuns = [{ run: root, parent_run_id: null as string | null }];
    for (let next = pendingRuns.pop(); next; next = pendingRuns.pop()) {
      const { run, parent_run_id } = next;
      if (visitedRuns.has(run.id)) continue;
      visitedRuns.add(run.id);
      const first = creationOf(run.id);
      requireRoom();
      const { agent_hash, file_ids } = first;
      capsule.run({ ...run, parent_run_id, agent_hash });
      capsule.agent(agent_hash, () => journal.snapshot(viewer, agent_hash));
      const subagentIds = await writeEntries(capsule, run, pause);
      await files(run.id, file_ids);
      const children = subagentIds.flatMap((id) => find(viewer, id) ?? []).filter((child) => sees(viewer, child));
      pendingRuns.push(...children.map((child) => ({ run: child, parent_run_id: run.id })).reverse());
    }
  }

  function creationOf(id: string): RunCreated {
    const [first] = journal.read(id, 0, 1);
    if (first?.event.type !== "run.created") throw notFound();
    return first.event;
  }

  /** Writes a run's entries and returns the ids of the runs that its calls started. */
  async function writeEntries(capsule: CapsuleWriter, { id, seq }: RunRow, pause: Pause): Promise<string[]> {
    const called: string[] = [];
    for (let after = 0; after < seq; ) {
      const entries = journal.read(id, after, Math.min(entriesPerRead, seq - after));
      if (entries.length === 0) throw notFound(); // Deleted meanwhile: half a run would look like an unfinished one.
      for (const entry of entries) {
        capsule.entry(id, entry);
        if (entry.event.type === "subagent.started") called.push(entry.event.run_id);
        await pause();
      }
      after = lastItem(entries).seq;
    }
    return called;
  }

  async function make(viewer: Viewer, root: RunRow, withContents: boolean, path: string, pause: Pause): Promise<void> {
    const capsule = createCapsuleWriter(path, root.id, now());
    try {
      await write(viewer, root, capsule, openFiles(capsule, viewer, withContents, pause), pause);
      capsule.finish();
    } finally {
      capsule.close();
    }
  }

  return {
    /**
     * Writes a run into a file and returns its path; the caller removes the file. Throws 404 if the viewer cannot see
     * the run.
     */
    async make(viewer: Viewer, id: string, withContents: boolean, signal: AbortSignal): Promise<string> {
      const root = isId("run", id) ? find(viewer, id) : null;
      if (!root) throw notFound();
      requireAgent(viewer, root.agent_id);
      const path = workspace.name("capsule");
      try {
        await ignoreClientAbort(signal, () =>
          queue.run(nameOf(viewer), signal, () => make(viewer, root, withContents, path, createPause(signal))),
        );
        return path;
      } catch (error) {
        workspace.remove(path);
        throw error;
      }
    },
  };
}

const sees = ({ agent_ids }: Viewer, { agent_id }: RunRow): boolean => !agent_ids || agent_ids.includes(agent_id);

/** Yields now and then. Throws once the client has disconnected. */
const createPause = (signal: AbortSignal): Pause => createYielder(() => signal.throwIfAborted());
