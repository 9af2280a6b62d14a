import { isPathRewritten } from "../../http/dot-segments.ts";
import type { PublicUrl } from "../../http/errors.ts";
import { requireValue } from "../../lib/require-value.ts";
import type { Seal } from "../../lib/seal.ts";
import type { Directory } from "../../storage/replication/directory.ts";
import { createLeaderOnly } from "../../storage/replication/leader-only.ts";
import {
  movedHeader,
  type NodeSeal,
  nodeTls,
  type Origin,
  type Person,
  passOn,
} from "../../storage/replication/node-auth.ts";
import type { Routes } from "../../storage/replication/routes.ts";
import { type RequestTarget, targetOf } from "../commands/request-target.ts";
import type { Handle } from "../serve/listener.ts";
import type { Listeners } from "../serve/listeners.ts";
import { bindToSession } from "../serve/session-bound-stream.ts";
import { clusterUnavailable, forwardFailureResponse } from "./cluster-unavailable.ts";
import type { ProjectMover } from "./project-mover.ts";

interface CellRouterOptions {
  cells: readonly [string, ...string[]];
  directory: Directory;
  seal: NodeSeal;
  /** Seal of client tokens. */
  tokens: Seal;
  /** The listeners themselves, without trust in what other nodes state. */
  entrance: Pick<Listeners, "peerOf" | "isPlain">;
  publicUrl: PublicUrl;
}

/** The leader's side of the router. */
interface Leading {
  cell: string;
  routes: Pick<Routes, "projectOf" | "has">;
  handle: Handle;
  /** Moves projects out of this cell. */
  mover: Pick<ProjectMover, "over" | "enter">;
  /** Returns the signed-in person, in the cell that has the accounts. */
  personOf(request: Request): Person | null;
  /** True while their session is valid. */
  staysSignedIn(request: Request): boolean;
  /** Resolves once data read until now may be revealed: a leader that was paused must not state who is signed in. */
  sure(): Promise<void>;
}

interface Place {
  cell: string;
  project?: string;
}

export type CellRouter = ReturnType<typeof createCellRouter>;

/** Maximum wait of a request for a project in transfer. */
const wait_ms = 10_000;

// Bounds forwarding: two nodes that disagree about the leader would send a request back and forth.
const hopsMax = 3;

/** Routes every request, on any node, to the leader of its cell. */
export function createCellRouter({ cells, directory, seal, tokens, entrance, publicUrl }: CellRouterOptions) {
  const [first] = cells;
  const unavailable = (): Response => clusterUnavailable(publicUrl);
  const moving = (): Response => clusterUnavailable(publicUrl, "The project is being moved to another cell.");
  const originIn = seal.originOf;
  const whileLeading = createLeaderOnly(directory.leaderOf);
  /** True if no node has checked yet who is signed in. */
  const isUnknown = (request: Request): boolean => originIn(request)?.person === undefined;

  /** Forwards a request to another cell on behalf of `person`: null if none is signed in, undefined if not checked. */
  async function pass(request: Request, cell: string, name: string | null, person?: Person | null): Promise<Response> {
    const leader = await directory.findLeaderOf(cell); // A node that has just started may not know the leader yet.
    const before = originIn(request);
    const hops = (before?.hops ?? 0) + 1;
    if (!leader || leader.address === "" || hops > hopsMax) return unavailable();
    const origin: Origin = {
      ...(before ?? { peer: entrance.peerOf(request), plain: entrance.isPlain(request) }),
      hops,
      ...(person !== undefined && { person }),
    };
    try {
      const answer = await passOn(request, {
        address: leader.address,
        tls: nodeTls(leader.certificate),
        seal,
        origin,
        until: whileLeading(cell),
      });
      if (name !== null && answer.headers.has(movedHeader)) directory.forget(name);
      answer.headers.delete(movedHeader);
      if (before) answer.headers.set(movedHeader, cell); // Tells the node that sent it here where the project is now.
      return answer;
    } catch (error) {
      return forwardFailureResponse(error, publicUrl);
    }
  }

  /** Returns the cell of a name that is not in this node's cell; the first cell if the name is unknown. */
  async function placeOf(name: string | null, fresh = false): Promise<Place> {
    return (name === null ? null : await directory.find(name, fresh)) ?? { cell: first };
  }

  /** Answers a CORS preflight. It names no project, so any cell whose projects allow the origin may allow it. */
  async function preflight(request: Request, own: string | null, handle: Handle): Promise<Response> {
    if (originIn(request)) return await handle(request);
    let refusal: Response | null = null;
    for (const cell of own === null ? cells : [own, ...cells.filter((other) => other !== own)]) {
      const answer = await (cell === own ? handle(request) : pass(request, cell, null));
      if (answer.ok) return answer;
      if (refusal === null || refusal.status === 503) refusal = answer;
    }
    return requireValue(refusal, "The answer of a cell");
  }

  const refusing =
    (handle: (request: Request) => Promise<Response>): ((request: Request) => Promise<Response>) =>
    (request) =>
      handle(request).catch(() => unavailable()); // Postgres cannot tell the cell of the request.

  return {
    /** Handler of a node that does not lead. */
    ofSpare: refusing(async (request) => {
      const target = targetOf(request, tokens);
      if (!target && isPreflight(request)) return await preflight(request, null, unavailable);
      const isFirst = !target || (target.people && isUnknown(request));
      return await pass(request, isFirst ? first : (await placeOf(target.name)).cell, target?.name ?? null);
    }),

    /** Handler of a node that leads a cell. */
    ofLeader({ cell: own, routes, handle, mover, personOf, staysSignedIn, sure }: Leading): Handle {
      /** Returns the project of a name; null if it is not in this cell. */
      function projectHere(name: string): string | null {
        const project = name.startsWith("proj_") ? name : routes.projectOf(name);
        return project !== null && routes.has(project) ? project : null;
      }

      /**
       * Handles a request here. An error may have come from a transfer of the project meanwhile; the client is asked to
       * retry.
       */
      async function here(request: Request, project: string): Promise<Response> {
        const moveDone = mover.over(project);
        if (moveDone) return await later(request, project, moveDone);
        const leave = mover.enter(project);
        try {
          const answer = await handle(request);
          return isFault(answer) && (mover.over(project) || !routes.has(project)) ? moving() : answer;
        } finally {
          leave();
        }
      }

      /** Dispatches the request again once the transfer is over. */
      async function later(request: Request, project: string, moved: Promise<void>): Promise<Response> {
        const isOver = await Promise.race([moved.then(() => true), Bun.sleep(wait_ms).then(() => false)]);
        if (!isOver) return moving();
        directory.forget(project);
        return await dispatch(request);
      }

      async function elsewhere(request: Request, { name, people }: RequestTarget): Promise<Response> {
        const origin = originIn(request);
        const hops = origin?.hops ?? 0;
        if (name === null && own === first) return await handle(request);
        const isMoving = ({ cell, project }: Place) => (cell === own && project ? mover.over(project) : null);
        let place = await placeOf(name, hops > 0);
        // The name may have been cached before its project left.
        if (place.cell === own && place.project && !isMoving(place)) place = await placeOf(name, true);
        const { cell, project } = place;
        const moved = isMoving(place);
        if (moved) return await later(request, requireValue(project, "The project"), moved);
        if (cell === own) return await handle(request);
        if (!people || !isUnknown(request) || own !== first) return await pass(request, cell, name);
        const person = personOf(request);
        if (!person && people === "alone") return await handle(request);
        await sure();
        const answer = await pass(request, cell, name, person);
        return person ? bindToSession(answer, () => staysSignedIn(request), publicUrl) : answer;
      }

      /** Creates a project in the cell with the fewest projects. */
      async function create(request: Request): Promise<Response> {
        const person = personOf(request);
        const cell = person ? await directory.leastLoaded() : own;
        if (person) await sure();
        return person && cell !== own ? await pass(request, cell, null, person) : await handle(request);
      }

      /** Merges the project lists of all cells. Projects of a cell without a leader are missing. */
      async function list(request: Request): Promise<Response> {
        const person = personOf(request);
        const answer = await handle(request);
        if (!person || !answer.ok) return answer;
        const others = cells.filter((cell) => cell !== own);
        await sure();
        const lists = await Promise.all(others.map((cell) => pass(request, cell, null, person)));
        const all = await readList(answer);
        const more = await Promise.all(lists.filter(({ ok }) => ok).map(readList));
        const data = [all, ...more].flatMap((each) => each.data);
        return Response.json({ ...all, data }, { headers: withoutLength(answer.headers) });
      }

      const ofPeople = refusing(async (request) => {
        if (!isUnknown(request)) return await handle(request);
        if (own !== first) return await pass(request, first, null);
        const isProjects = projectsPath.test(request.url);
        if (isProjects && request.method === "POST") return await create(request);
        return isProjects && request.method === "GET" ? await list(request) : await handle(request);
      });
      const follow = refusing((request) =>
        elsewhere(request, requireValue(targetOf(request, tokens), "The target of a request")),
      );

      function dispatch(request: Request): Response | Promise<Response> {
        if (isPathRewritten(request)) return handle(request); // Another node would not see the URL as it was sent.
        const target = targetOf(request, tokens);
        if (!target) return isPreflight(request) ? preflight(request, own, handle) : handle(request);
        const { name, people } = target;
        if (name === null) return people ? ofPeople(request) : follow(request);
        if (people && own !== first && isUnknown(request)) return refusing(() => pass(request, first, null))(request);
        const project = projectHere(name);
        return project !== null ? here(request, project) : follow(request);
      }

      return dispatch;
    },
  };
}

/** True for statuses that a request gets if the project's rows are missing or left meanwhile. */
const isFault = ({ status }: Response): boolean => [401, 404, 409].includes(status) || status >= 500;

const isPreflight = ({ method, headers }: Request): boolean =>
  method === "OPTIONS" && headers.has("access-control-request-method");

const projectsPath = /^https?:\/\/[^/]+\/console\/api\/projects\/?(?:\?|$)/;

const readList = (answer: Response) => answer.json() as Promise<{ data: unknown[] }>;

function withoutLength(headers: Headers): Headers {
  const forwardedHeaders = new Headers(headers);
  forwardedHeaders.delete("content-length");
  return forwardedHeaders;
}
