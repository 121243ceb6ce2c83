import { rolloutEvent } from "@harrier/contracts";
import { expand, type OutboxRow } from "@harrier/events";
import type { LeaseOptions } from "@harrier/jobs";
import { eventually } from "@harrier/testkit";
import { expect } from "vitest";
import { createEngine, type RolloutEngine } from "../engine/engine.ts";
import type { PerformDeps } from "../engine/perform.ts";
import { createRollout } from "../rollouts/create-rollout.ts";
import { getRollout } from "../rollouts/read-rollouts.ts";
import { type CommandDeps, startRollout } from "../rollouts/rollout-commands.ts";
import { type ControllerDouble, controllerDouble } from "./controller-double.ts";
import { createFixture, type Fixture, rolloutBody } from "./database.fixture.ts";

export interface GroupState {
  id: number;
  status: string;
  total: number;
  started: boolean;
}

export interface RecordedEvent {
  sequence: number;
  /** It is e.g. `rollout running` or `group finished`. */
  what: string;
  data: Record<string, unknown>;
}

/** A fixture with engines, 12 targets `t-*` and 4 `few-*`, and a double of controller with chunks of 4. */
export interface EngineFixture extends Fixture {
  readonly controller: ControllerDouble;
  /** The warnings that the engines have logged. */
  readonly warnings: object[];
  readonly drive: CommandDeps;
  engine(options?: Partial<LeaseOptions>, over?: Partial<PerformDeps>): RolloutEngine;
  /** Excludes an engine from the stop at the end. */
  abandon(engine: RolloutEngine): void;
  stopEngines(): Promise<void>;
  createRollout(body: Record<string, unknown>, principal?: Fixture["call"]["principal"]): Promise<number>;
  /** Creates and starts a rollout, and waits until it runs; answers its first groups too. */
  started(body: Record<string, unknown>): Promise<{ id: number; g1: number; g2: number; g3: number; g4: number }>;
  status(id: number): Promise<string>;
  isStatus(id: number, expected: string): Promise<void>;
  groups(id: number): Promise<GroupState[]>;
  groupStatuses(id: number): Promise<string[]>;
  areStatuses(id: number, ...expected: string[]): Promise<void>;
  /** Counts the actions by status. */
  actions(id: number): Promise<{ status: number; n: number }[]>;
  /** Answers every event of a rollout in the order of the outbox. */
  events(id: number): Promise<RecordedEvent[]>;
}

const groupsQuery = `select id::int, status, total_targets as total, started from rollout_engine.rollout_groups
  where rollout_id = $1 order by position`;
const actionsQuery = "select status, count(*)::int as n from controller.actions where rollout_id = $1 group by 1 order by 1";
const eventsQuery = "select * from rollout_engine.outbox where (common ->> 'rolloutId')::bigint = $1 order by txid, id";

export async function createEngineFixture(): Promise<EngineFixture> {
  const fixture = await createFixture();
  const controller = controllerDouble(fixture.database, 4);
  await fixture.addTargets("t", 12);
  await fixture.addTargets("few", 4);
  const engines: RolloutEngine[] = [];
  const warnings: object[] = [];
  const log = { warn: (fields: object) => void warnings.push(fields) };
  const drive = { db: fixture.create.db, wake: () => engines[0]?.wake(), fault: () => {} };

  const status = async (id: number) => (await getRollout(fixture.create, 1, id)).status;
  const groups = (id: number) => fixture.sql<GroupState>(groupsQuery, [id]);
  const groupStatuses = async (id: number) => (await groups(id)).map((group) => group.status);
  const isStatus = (id: number, expected: string) => eventually(async () => expect(await status(id)).toBe(expected), 40_000);
  const create = (body: Record<string, unknown>, principal = fixture.call.principal) =>
    createRollout(fixture.create, rolloutBody({ targetFilterQuery: "name==t-*", ...body }), { ...fixture.call, principal });

  return {
    ...fixture,
    controller,
    warnings,
    drive,
    engine(options = {}, over = {}) {
      const deps = { db: fixture.create.db, actions: controller.actions, fault: () => {}, now: Date.now, ...over };
      const made = createEngine(deps, { pollMs: 50, leaseSeconds: 4, slots: 4, log, ...options });
      made.start();
      engines.push(made);
      return made;
    },
    abandon: (engine) => void engines.splice(engines.indexOf(engine), 1),
    async stopEngines() {
      controller.beforeCall = () => {};
      await Promise.all(engines.splice(0).map((engine) => engine.stop()));
    },
    createRollout: create,
    async started(body) {
      const id = await create(body);
      await isStatus(id, "ready");
      await startRollout(drive, fixture.call, id);
      await isStatus(id, "running");
      const [g1 = 0, g2 = 0, g3 = 0, g4 = 0] = (await groups(id)).map((group) => group.id);
      return { id, g1, g2, g3, g4 };
    },
    status,
    isStatus,
    groups,
    groupStatuses,
    areStatuses: (id, ...expected) => eventually(async () => expect(await groupStatuses(id)).toEqual(expected), 40_000),
    actions: (id) => fixture.sql(actionsQuery, [id]),
    async events(id) {
      const rows = await fixture.sql<OutboxRow & { at: Date }>(eventsQuery, [id]);
      const messages = rows.flatMap((row) => expand("rollout_engine", { ...row, at: Number(row.at) }));
      return messages.map(({ value }) => {
        // events must have the schema that other services are promised
        const { sequence, subject, data } = rolloutEvent.parse(JSON.parse(value));
        return { sequence: Number(sequence), what: `${subject.includes("/groups/") ? "group" : "rollout"} ${data.status}`, data };
      });
    },
  };
}
