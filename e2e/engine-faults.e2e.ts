import { describe, expect, test } from "bun:test";
import { type Postgres, sqlAt, startPostgres } from "../server/testing/postgres.ts";
import { type Cluster, startCluster } from "./cluster/nodes.ts";
import { waitUntil } from "./until.ts";

/** Returns SQL that makes each shipped row, and each lease renewal, first run this action. */
const first = (action: string): string[] => [
  `CREATE OR REPLACE FUNCTION runnel_fault() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${action}; RETURN NEW; END $$`,
  "CREATE OR REPLACE TRIGGER runnel_fault BEFORE UPDATE ON runnel_cells FOR EACH ROW EXECUTE FUNCTION runnel_fault()",
];
const noMore = ["DROP TRIGGER runnel_fault ON runnel_cells"];
/** SQLSTATE of Postgres: https://www.postgresql.org/docs/15/errcodes-appendix.html */
const diskFull = "RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'";

interface Fault {
  begin(postgres: Postgres): Promise<void> | void;
  end(postgres: Postgres): Promise<void> | void;
}

/** Runs statements on a connection that may write while Postgres is read-only for all others. */
async function tell(postgres: Postgres, statements: string[]): Promise<void> {
  const connection = { default_transaction_read_only: "off" };
  const sql = new Bun.SQL({ url: postgres.primary.url, max: 1, connection });
  for (const statement of statements) await sql.unsafe(statement);
  await sql.close();
}

/** Resolves once every connection follows: Postgres signals the open ones before it accepts a new one. */
async function setReadOnly(postgres: Postgres, is: "on" | "off"): Promise<void> {
  await tell(postgres, [`ALTER SYSTEM SET default_transaction_read_only = ${is}`, "SELECT pg_reload_conf()"]);
  await waitUntil(async () => {
    const [{ default_transaction_read_only }] = await sqlAt(postgres.primary.url, "SHOW default_transaction_read_only");
    return default_transaction_read_only === is;
  });
}

const faults: Record<string, Fault> = {
  "whose disk is full": {
    begin: (postgres) => tell(postgres, first(diskFull)),
    end: (postgres) => tell(postgres, noMore),
  },
  "that takes no writes": {
    begin: (postgres) => setReadOnly(postgres, "on"),
    end: (postgres) => setReadOnly(postgres, "off"),
  },
  "that says nothing": {
    begin: ({ primary }) => primary.signal("SIGSTOP"),
    end: ({ primary }) => primary.signal("SIGCONT"),
  },
};

/** Creates agents by name, and records the acknowledged ones. */
function createAgents(cluster: Cluster) {
  const acknowledged: string[] = [];
  const { url } = cluster.nodes[0]!;
  return {
    async make(name: string): Promise<Response> {
      const body = JSON.stringify({ name, instructions: "", model: "test/echo" });
      const answer = await cluster.request(url, "/v1/agents", { method: "POST", body });
      if (answer.ok) acknowledged.push(name);
      return answer;
    },
    async lost(): Promise<string[]> {
      const { data } = await (await cluster.request(url, "/v1/agents?limit=100")).json();
      const kept = new Set(data.map(({ name }: { name: string }) => name));
      return acknowledged.filter((name) => !kept.has(name));
    },
  };
}

describe.if(startPostgres.orSkipped("faults of a cluster's engine"))("the Postgres of a cluster", () => {
  // Concurrent, because each waits ten seconds for its Postgres and does nothing else.
  for (const [which, fault] of Object.entries(faults))
    test.concurrent(`${which} leads to refused writes with a Retry-After, and no acknowledged write is lost`, async () => {
      await using postgres = await startPostgres();
      await using cluster = await startCluster({ nodes: 1, postgres });
      const agents = createAgents(cluster);
      await waitUntil(async () => (await agents.make("before")).ok);
      await fault.begin(postgres);
      const refused = await Promise.all(["during 1", "during 2"].map(agents.make));
      for (const answer of refused) {
        expect(answer.status).toBe(503);
        expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
        const { error, request_id } = await answer.json();
        expect({ error, request_id }).toMatchObject({
          error: { type: "api_error", message: expect.any(String) },
          request_id: expect.stringMatching(/^req_/),
        });
      }
      await fault.end(postgres);
      await waitUntil(async () => (await agents.make("after").catch(() => null))?.ok === true);
      expect(await agents.lost()).toEqual([]);
      expect(cluster.nodes[0]!.codes).toEqual([]); // The node did not restart.
    }, 90_000);

  test("that is slow delays all requests, and refuses none", async () => {
    await using postgres = await startPostgres();
    await using cluster = await startCluster({ nodes: 1, postgres, lease_s: 20 });
    await tell(postgres, first("PERFORM pg_sleep(0.2)"));
    const agents = createAgents(cluster);
    const made = await Promise.all(Array.from({ length: 30 }, (_, n) => agents.make(`slow ${n}`)));
    expect(made.map(({ status }) => status)).toEqual(Array(30).fill(201));
    expect(await agents.lost()).toEqual([]);
  }, 90_000);
});
