import { expect, test } from "bun:test";
import { freePort } from "../../testing/free-port.ts";
import { sqlAt, startPostgres } from "../../testing/postgres.ts";
import { createDirectory } from "./directory.ts";
import { makeTables } from "./tables.ts";

test.if(startPostgres.orSkipped("where projects are"))(
  "the location of a project is never read from a lagging standby",
  async () => {
    await using postgres = await startPostgres({ standby: true });
    const { primary, standby } = postgres;
    await using sql = new Bun.SQL({ url: primary.url, max: 1 });
    await makeTables(sql);
    await sql.unsafe("INSERT INTO runnel_projects (id, cell, name, is_open) VALUES ('proj_1', 'main', 'shop', true)");
    const placeAtStandby = async () =>
      (await sqlAt(standby!.url, "SELECT cell FROM runnel_projects").catch(() => []))[0]?.cell;
    while ((await placeAtStandby()) !== "main") await Bun.sleep(10);
    await sqlAt(standby!.url, "SELECT pg_wal_replay_pause()");
    await sql.unsafe("UPDATE runnel_projects SET cell = 'east'");
    expect(await placeAtStandby()).toBe("main");

    // The host without a listener and the standby are skipped.
    const hosts = [`127.0.0.1:${freePort()}`, ...[standby!, primary].map(({ url }) => new URL(url).host)];
    const directory = createDirectory(`postgres://runnel@${hosts.join()}/postgres`, ["main", "east"]);
    expect(await directory.find("proj_1")).toEqual({ project: "proj_1", cell: "east" });

    // A name that was unknown, as a node asks before it leads, is looked up again once a project with it moves.
    expect(await directory.find("key_1")).toBeNull();
    await sql.unsafe("INSERT INTO runnel_routes (name, project) VALUES ('key_1', 'proj_1')");
    expect(await directory.find("key_1")).toBeNull();
    directory.forget("proj_1");
    expect(await directory.find("key_1")).toEqual({ project: "proj_1", cell: "east" });

    // A new leader is found immediately, although this node refreshes the leaders only now and then.
    expect(await directory.findLeaderOf("east")).toBeNull();
    await sql.unsafe(
      `INSERT INTO runnel_cells (id, leader, address, certificate, epoch, lease_until, head, base, base_epoch,
         master_key_id, version)
       VALUES ('east', 'node', 'http://east.test', '', 1, clock_timestamp() + interval '1 minute', 0, 0, 1, '', 1)`,
    );
    expect(await directory.findLeaderOf("east")).toEqual({ address: "http://east.test", certificate: "" });
    await directory.close();
  },
  60_000,
);
