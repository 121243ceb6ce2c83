import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createEgress, parseAllowed } from "@harrier/egress";
import type { LeaseOptions } from "@harrier/jobs";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { createChanges } from "../events/changes.ts";
import { type HttpFixture, httpFixture } from "../testing/http.fixture.ts";
import { startReplica } from "../testing/leases.fixture.ts";
import { type Fixture, managementFixture } from "../testing/management.fixture.ts";
import { createDeliveries } from "./deliver.ts";

export const path = "/api/mgmt/v1/webhooks";
export const hourMs = 60 * 60_000;
/** An event about a target of tenant 1, by its `common` and `items`. */
export const insert =
  "insert into outbox (tenant_id, topic, type, common, items) values (1, 'target-events', 'io.update.target.changed.v1', $1, $2)";

export interface Received {
  id: string;
  subject: string;
  sequence: number;
  headers: IncomingMessage["headers"];
  body: string;
}

export const sequencesOf = (events: readonly Received[], target: string) =>
  events.filter(({ subject }) => subject === `targets/${target}`).map(({ sequence }) => sequence);

/** A webhook with its receivers and replicas over real PostgreSQL; what a test has begun ends with it. */
export function setUpWebhooks() {
  let fixture: Fixture;
  let http: HttpFixture;
  const ends: (() => unknown)[] = [];
  beforeAll(async () => {
    fixture = await managementFixture();
    http = await httpFixture(fixture);
  });
  afterEach(async () => {
    for (const end of ends.splice(0).toReversed()) await end();
    await fixture.rows("delete from webhooks");
  });
  afterAll(async () => {
    await http.close();
    await fixture.close();
  });
  const rows: Fixture["rows"] = (...asked) => fixture.rows(...asked);
  const asController: Fixture["asController"] = (...asked) => fixture.asController(...asked);
  const call: HttpFixture["call"] = (...asked) => http.call(...asked);

  /** A receiver that answers as it is told; what it has accepted is in `received`. */
  async function receiver(answer: (event: Received, res: ServerResponse) => unknown = () => 204) {
    const received: Received[] = [];
    const server: Server = createServer(async (req, res) => {
      const parts: Buffer[] = [];
      for await (const part of req) parts.push(part as Buffer);
      const body = Buffer.concat(parts).toString();
      const { id, subject, sequence } = JSON.parse(body) as Received;
      const event = { id, subject, sequence: Number(sequence), headers: req.headers, body };
      const status = await answer(event, res);
      if (typeof status !== "number") return;
      if (status < 300) received.push(event);
      res.writeHead(status).end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    ends.push(() => {
      server.closeAllConnections();
      server.close();
    });
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, received };
  }

  /** A receiver that answers only when it is let go, with the status that it is told then. */
  async function hanging() {
    const waiting: ServerResponse[] = [];
    const { url } = await receiver((_event, res) => void waiting.push(res));
    const release = (status: number) => {
      for (const res of waiting.splice(0)) res.writeHead(status).end();
    };
    return { url, waiting, release };
  }

  /** A replica that delivers, until the test ends; its clock is ahead by `aheadMs`. */
  function replica({ aheadMs = () => 0, ...options }: Partial<LeaseOptions> & { aheadMs?: () => number } = {}) {
    const changes = createChanges({ db: fixture.db.pool, onFirst: () => {} });
    const egress = createEgress({ allowed: parseAllowed("*@127.0.0.0/8") });
    const log = { warn: () => {} };
    const leases = createDeliveries(
      { db: fixture.db, secrets: fixture.secrets, egress, changes, eventDays: 2, now: () => Date.now() + aheadMs(), log },
      { pollMs: 50, leaseSeconds: 5, slots: 4, log, ...options },
    );
    const stop = startReplica(changes, leases);
    ends.push(stop);
    return { stop, leases };
  }

  async function create(members: object): Promise<{ id: number; secret: string }> {
    const { status, body } = await call("POST", path, { body: [{ name: "w", ...members }] });
    expect([status, body]).toEqual([201, expect.anything()]);
    return body[0];
  }

  /** Tells events of a target, with these sequences. */
  const tell = (target: string, ...sequences: number[]) => {
    const items = sequences.map((sequence) => ({ subject: `targets/${target}`, sequence, data: { controllerId: target } }));
    return asController(insert, [JSON.stringify({ tenant: "DEFAULT" }), JSON.stringify(items)]);
  };
  const log = async (id: number) => (await call("GET", `${path}/${id}/deliveries`)).body;
  const dueNow = () => rows("update webhooks set due_at = now()");
  const told = () => rows("select type, items -> 0 -> 'data' as data from outbox where topic = 'webhook-events' order by id");
  const shown = async (id: number) => (await call("GET", `${path}/${id}`)).body;
  /** Makes a webhook one of a second tenant. */
  const secondTenant = async (id: number) => {
    await rows("insert into tenants (tenant_id, name, status, default_set_type_id) values (2, 'OTHER', 'active', 1)");
    atEnd(() => rows("delete from tenants where tenant_id = 2"));
    await rows("update webhooks set tenant_id = 2 where id = $1", [id]);
  };
  const atEnd = (end: () => unknown) => void ends.push(end);
  return { rows, asController, call, receiver, hanging, replica, create, tell, log, dueNow, told, shown, secondTenant, atEnd };
}
