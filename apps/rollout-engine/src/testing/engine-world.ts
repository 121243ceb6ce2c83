import { rolloutEvent } from "@harrier/contracts";
import { expand, type OutboxRow } from "@harrier/events";
import { eventually } from "@harrier/testkit";
import { expect } from "vitest";
import { type EngineDeps, RolloutEngine } from "../engine/engine.ts";
import { createRollout } from "../rollouts/create-rollout.ts";
import { type DriveDeps, startRollout } from "../rollouts/drive-rollout.ts";
import { getRollout } from "../rollouts/read-rollouts.ts";
import { type ControllerDouble, controllerDouble } from "./controller-double.ts";
import { createWorld, rolloutBody, type World } from "./world.ts";

type EngineOptions = ConstructorParameters<typeof RolloutEngine>[1];

export interface GroupState {
  id: number;
  status: string;
  total: number;
  started: boolean;
}

export interface ToldEvent {
  sequence: number;
  /** e.g. `rollout running`, `group finished`. */
  what: string;
  data: Record<string, unknown>;
}

/** A world with engines in it, 12 targets `t-*` and 4 `few-*`, and controller played in chunks of 4. */
export interface EngineWorld extends World {
  readonly controller: ControllerDouble;
  /** What the engines have warned of. */
  readonly warnings: object[];
  readonly drive: DriveDeps;
  engine(options?: EngineOptions, over?: Partial<EngineDeps>): RolloutEngine;
  /** Forgets an engine: it is not stopped with the others. */
  abandon(engine: RolloutEngine): void;
  stopEngines(): Promise<void>;
  createRollout(body: Record<string, unknown>, principal?: World["call"]["principal"]): Promise<number>;
  /** Creates and starts a rollout, and waits until it runs; answers its first groups too. */
  started(body: Record<string, unknown>): Promise<{ id: number; g1: number; g2: number; g3: number; g4: number }>;
  status(id: number): Promise<string>;
  isStatus(id: number, expected: string): Promise<void>;
  groups(id: number): Promise<GroupState[]>;
  groupStatuses(id: number): Promise<string[]>;
  areStatuses(id: number, ...expected: string[]): Promise<void>;
  /** Actions by status. */
  actions(id: number): Promise<{ status: number; n: number }[]>;
  /** Every event of a rollout in the order of the outbox. */
  events(id: number): Promise<ToldEvent[]>;
}

const groupsQuery = `select id::int, status, total_targets as total, started from rollout_engine.rollout_groups
  where rollout_id = $1 order by position`;
const actionsQuery = "select status, count(*)::int as n from controller.actions where rollout_id = $1 group by 1 order by 1";
const eventsQuery = "select * from rollout_engine.outbox where (common ->> 'rolloutId')::bigint = $1 order by txid, id";

export async function createEngineWorld(): Promise<EngineWorld> {
  const world = await createWorld();
  const controller = controllerDouble(world.database, 4);
  await world.addTargets("t", 12);
  await world.addTargets("few", 4);
  const engines: RolloutEngine[] = [];
  const warnings: object[] = [];
  const log = { info: () => {}, warn: (fields: object) => void warnings.push(fields) };
  const drive = { db: world.create.db, nudge: () => engines[0]?.nudge(), fault: () => {} };

  const status = async (id: number) => (await getRollout(world.create, 1, id)).status;
  const groups = (id: number) => world.sql<GroupState>(groupsQuery, [id]);
  const groupStatuses = async (id: number) => (await groups(id)).map((group) => group.status);
  const isStatus = (id: number, expected: string) => eventually(async () => expect(await status(id)).toBe(expected), 40_000);
  const create = (body: Record<string, unknown>, principal = world.call.principal) =>
    createRollout(world.create, rolloutBody({ targetFilterQuery: "name==t-*", ...body }), { ...world.call, principal });

  return {
    ...world,
    controller,
    warnings,
    drive,
    engine(options = {}, over = {}) {
      const deps = { db: world.create.db, actions: controller.actions, fault: () => {}, now: Date.now, log, ...over };
      const made = new RolloutEngine(deps, { pollMs: 50, ...options });
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
      await startRollout(drive, world.call, id);
      await isStatus(id, "running");
      const [g1 = 0, g2 = 0, g3 = 0, g4 = 0] = (await groups(id)).map((group) => group.id);
      return { id, g1, g2, g3, g4 };
    },
    status,
    isStatus,
    groups,
    groupStatuses,
    areStatuses: (id, ...expected) => eventually(async () => expect(await groupStatuses(id)).toEqual(expected), 40_000),
    actions: (id) => world.sql(actionsQuery, [id]),
    async events(id) {
      const rows = await world.sql<OutboxRow & { at: Date }>(eventsQuery, [id]);
      const messages = rows.flatMap((row) => expand("rollout_engine", { ...row, at: Number(row.at) }));
      return messages.map(({ value }) => {
        // what others read must be what is promised to them
        const { sequence, subject, data } = rolloutEvent.parse(JSON.parse(value));
        return { sequence: Number(sequence), what: `${subject.includes("/groups/") ? "group" : "rollout"} ${data.status}`, data };
      });
    },
  };
}
