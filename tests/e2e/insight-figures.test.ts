import { type CurrentRollouts, type CurrentTargets, type SetCounts, updateStatusNames, type VersionInsights } from "@harrier/contracts";
import type { ServiceName, Stack } from "@harrier/stack";
import { type Admin, type CreatedTarget, eventually, send, withClient } from "@harrier/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { numbersFrom, testSeed } from "./support/random-kills.ts";
import { adminOf, allowTargetTokens } from "./support/replicas.ts";
import { answering, startAnsweringStack } from "./support/serving.ts";

// The figures of insights equal a brute-force count over a random history in which services are killed (contract management.md §10.6, console.md M19).

const kills = 4;
/** So many steps at most before each kill, and as many after the last one: none of them may fail. */
const stepsBetween = 12;
/** So many steps while the killed service starts again. */
const stepsInKill = 8;
const settleMs = 90_000;
/** Those that change what insights count, or count it. */
const victims: readonly ServiceName[] = ["controller", "management", "rollout-engine", "artifact-store"];

let stack: Stack;
let admin: Admin;

beforeAll(async () => {
  stack = await startAnsweringStack();
  admin = adminOf(stack);
  await allowTargetTokens(stack);
});
afterAll(() => stack?.stop());

interface Figure {
  bytes?: number;
  count?: number;
  perStatus?: Record<string, number>;
}
const thisMonth = async (path: string): Promise<Figure> => {
  const { content } = await admin.get<{ content: (Figure & { month: string; coverage: string })[] }>(`insights/${path}`);
  const { month: _month, coverage, ...figure } = content.at(-1) ?? { month: "", coverage: "" };
  expect(coverage).toBe("full");
  return figure;
};
/** Sets with the same number of targets come in any order. */
const byId = (sets: readonly { id: number; count: number }[]) => sets.map(({ id, count }) => ({ id, count })).sort((a, b) => a.id - b.id);
const versions = async (by: string) => {
  const { content } = await admin.get<VersionInsights>(`insights/versions?top=100&by=${by}`);
  const { counts = [], total } = content.at(-1) ?? {};
  return { total, counts: byId(counts) };
};

/** Reads everything that insights say of now, and of this month. */
async function told() {
  const targets = await admin.get<CurrentTargets>("insights/targets/current");
  const rollouts = await admin.get<CurrentRollouts>("insights/rollouts/current");
  const top = async (which: string) => byId(await admin.get<SetCounts>(`insights/distributionsets/top-${which}?top=500`));
  return {
    traffic: (await thisMonth("data-traffic")).bytes,
    storage: (await thisMonth("artifact-storage")).bytes,
    targets: { total: targets.total, overdue: targets.overdue, ...targets.perUpdateStatus },
    targetsOfMonth: (await thisMonth("targets/monthly")).count,
    rollouts: Object.fromEntries(Object.entries(rollouts.perStatus).filter(([, n]) => n > 0)),
    rolloutsOfMonth: (await thisMonth("rollouts/monthly")).count,
    actionsOfMonth: await thisMonth("actions/monthly"),
    installed: await top("installed"),
    assigned: await top("assigned"),
    installedToday: await versions("installedds"),
    assignedToday: await versions("assignedds"),
  };
}

type Told = Awaited<ReturnType<typeof told>>;
const ends: Readonly<Record<number, string>> = { 0: "finished", 1: "error", 4: "canceled" };

/** Counts the same, one by one, from the rows that there are and the events that there were. */
async function counted(sent: number): Promise<Told> {
  return withClient(stack.adminDatabaseUrl as string, async (client) => {
    const rows = async <Row extends object>(sql: string): Promise<Row[]> => (await client.query(sql)).rows as Row[];
    const targets = await rows<{ status: number; installed: number | null; assigned: number | null }>(
      `select s.update_status::int as status, s.installed_set_id::int as installed, s.assigned_set_id::int as assigned
         from controller.targets t join controller.target_state s on s.tenant_id = t.tenant_id and s.target_id = t.id where t.tenant_id = 1`,
    );
    const events = await rows<{ type: string; items: unknown[][] }>(
      `select type, items from controller.outbox where tenant_id = 1 and type in ('io.update.action.created.v1', 'io.update.action.status_changed.v1')
        order by txid, id`,
    );
    const perStatus: Record<string, number> = { finished: 0, error: 0, canceled: 0 };
    let actions = 0;
    for (const { type, items } of events) {
      for (const item of items) {
        if (type === "io.update.action.created.v1") actions += 1;
        const [before, after] = [ends[item[3] as number], ends[item[4] as number]];
        if (after !== undefined && before === undefined) perStatus[after] = (perStatus[after] ?? 0) + 1;
      }
    }
    const setsOf = (which: "installed" | "assigned") => {
      const found = new Map<number, number>();
      for (const { [which]: id } of targets) if (id !== null) found.set(id, (found.get(id) ?? 0) + 1);
      return byId([...found].map(([id, count]) => ({ id, count })));
    };
    const today = (counts: { id: number; count: number }[]) => ({ counts, total: counts.reduce((sum, { count }) => sum + count, 0) });
    const rollouts: Record<string, number> = {};
    for (const { status } of await rows<{ status: string }>(
      "select status from rollout_engine.rollouts where tenant_id = 1 and not deleted",
    )) {
      rollouts[status] = (rollouts[status] ?? 0) + 1;
    }
    const [created] = await rows<{ n: number }>(
      "select count(*)::int as n from rollout_engine.outbox where tenant_id = 1 and type = 'io.update.rollout.created.v1'",
    );
    const [stored] = await rows<{ n: number }>("select coalesce(sum(size), 0)::int as n from management.artifacts where tenant_id = 1");
    const perUpdateStatus = Object.fromEntries(
      updateStatusNames.map((name, n) => [name, targets.filter(({ status }) => status === n).length]),
    );
    return {
      traffic: sent,
      storage: stored?.n,
      targets: { total: targets.length, overdue: 0, ...perUpdateStatus } as Told["targets"],
      targetsOfMonth: targets.length,
      rollouts,
      rolloutsOfMonth: created?.n,
      actionsOfMonth: { count: actions, perStatus },
      installed: setsOf("installed"),
      assigned: setsOf("assigned"),
      installedToday: today(setsOf("installed")),
      assignedToday: today(setsOf("assigned")),
    };
  });
}

interface Action {
  controllerId: string;
  id: number;
  token: string;
}

/**
 * The kinds of steps of the history, by name. Each does what it needs first, so that it can be done at any time; it rejects where something of it was
 * refused or got no answer.
 */
async function kindsOfSteps(random: () => number, sent: { bytes: number }) {
  const below = (n: number) => Math.floor(random() * n);
  const take = <T>(from: T[]): T | undefined => from.splice(below(from.length), 1)[0];
  const targets: CreatedTarget[] = [];
  const rollouts: number[] = [];
  let actions: Action[] = [];
  const made = await Promise.all([100, 2_000, 30_000].map((size) => admin.createSetWithFile("x".repeat(size), "image.bin")));
  const oneOfMade = () => made[below(made.length)] as (typeof made)[number];
  // Rollouts have targets of their own: whoever assigns to the others knows what these have.
  await admin.createTargets(3, "rolled");
  const createRollout = async () => (await admin.createRollout(oneOfMade().set.id, { targetFilterQuery: "controllerId==rolled-*" })).id;
  const readyRollout = async () => (await admin.rolloutIs(take(rollouts) ?? (await createRollout()), "ready")).id;

  /** Assigns a set that the target does not have to it; its older actions are obsolete, and nothing more is done with them. */
  async function assign(): Promise<Action> {
    if (targets.length === 0) targets.push(await admin.createTarget());
    const { controllerId, securityToken: token } = targets[below(targets.length)] as CreatedTarget;
    const { body: assigned, status } = await admin.call<{ id?: number } | undefined>(`targets/${controllerId}/assignedDS`);
    expect([200, 204]).toContain(status);
    const others = made.filter(({ set }) => set.id !== assigned?.id);
    const { set } = others[below(others.length)] as (typeof made)[number];
    actions = actions.filter((action) => action.controllerId !== controllerId);
    return { controllerId, id: await admin.assign(controllerId, set.id), token };
  }
  const anAction = async () => take(actions) ?? (await assign());

  return {
    "targets are created": async () => {
      targets.push(...(await admin.createTargets(1 + below(4))));
    },
    "a set is assigned": async () => {
      actions.push(await assign());
    },
    "the end of an action is reported": async () => {
      const { controllerId, id, token } = await anAction();
      const finished = random() < 0.6 ? "success" : "failure";
      const answer = await send(`${stack.baseUrl}/DEFAULT/controller/v1/${controllerId}/deploymentBase/${id}/feedback`, {
        method: "POST",
        headers: { authorization: `TargetToken ${token}` },
        body: { status: { execution: "closed", result: { finished } } },
      });
      expect(answer.status).toBe(200);
    },
    "an action is cancelled": async () => {
      const { controllerId, id } = await anAction();
      expect((await admin.cancel(controllerId, id)).status).toBe(204);
      if (random() < 0.7) expect((await admin.cancel(controllerId, id, true)).status).toBe(204);
    },
    "a target is deleted": async () => {
      const { controllerId } = take(targets) ?? (await admin.createTarget());
      actions = actions.filter((action) => action.controllerId !== controllerId);
      expect((await admin.call(`targets/${controllerId}`, { method: "DELETE" })).status).toBeLessThan(300);
    },
    "a rollout is created": async () => {
      rollouts.push(await createRollout());
    },
    "a rollout is started": async () => {
      await admin.startRollout(await readyRollout());
    },
    "a rollout is deleted": async () => {
      expect((await admin.call(`rollouts/${await readyRollout()}`, { method: "DELETE" })).status).toBeLessThan(300);
    },
    "a file is uploaded": async () => {
      await admin.upload((await admin.createModule()).id, "more.bin", "y".repeat(1 + below(5_000)));
    },
    "a file is downloaded": async () => {
      const { module, artifact } = oneOfMade();
      const { status } = await admin.call(`softwaremodules/${module.id}/artifacts/${artifact.id}/download`);
      expect(status).toBe(200);
      sent.bytes += artifact.size;
    },
  } satisfies Record<string, () => Promise<void>>;
}

/** Waits until a request of each kind is answered again: by every owner, to an administrator and to a device. */
async function isOver(): Promise<void> {
  await answering(stack);
  await eventually(async () => {
    await admin.get("rollouts?limit=1");
    const { controllerId, securityToken } = await admin.createTarget();
    const headers = { authorization: `TargetToken ${securityToken}` };
    expect((await send(`${stack.baseUrl}/DEFAULT/controller/v1/${controllerId}`, { headers })).status).toBe(200);
  });
}

test("whatever happens, and whichever service dies meanwhile, each figure is that of a count by hand", async () => {
  const seed = testSeed();
  const random = numbersFrom(seed);
  const below = (n: number) => Math.floor(random() * n);
  const sent = { bytes: 0 };
  const kinds = await kindsOfSteps(random, sent);
  const names = Object.keys(kinds) as (keyof typeof kinds)[];
  const done = new Map<string, number>();
  const run = async (name: keyof typeof kinds) => {
    await kinds[name]();
    done.set(name, (done.get(name) ?? 0) + 1);
  };
  const anyKind = () => names[below(names.length)] as keyof typeof kinds;

  /** Traffic is written twice a second: a process that is killed before has not counted what it has just sent. */
  const trafficIsWritten = () => eventually(async () => expect((await thisMonth("data-traffic")).bytes).toBe(sent.bytes), settleMs, 50);
  const kill = async () => {
    const victim = victims[below(victims.length)] as ServiceName;
    if (victim === "artifact-store") await trafficIsWritten();
    stack.kill(victim, 0, "SIGKILL");
  };

  for (const name of names) await run(name);
  for (let n = 0; n < kills; n++) {
    for (let step = below(stepsBetween); step >= 0; step--) await run(anyKind());
    await kill();
    // What meets a dead service is refused, or done without an answer: the count by hand knows which.
    for (let step = 0; step < stepsInKill; step++) await run(anyKind()).catch(() => undefined);
    await isOver();
  }
  for (let step = 0; step < stepsBetween; step++) await run(anyKind());
  await eventually(async () => expect(await told(), `seed ${seed}`).toEqual(await counted(sent.bytes)), settleMs, 250);
  expect([...done.keys()].sort()).toEqual(names.toSorted());
  expect((await counted(sent.bytes)).actionsOfMonth.count).toBeGreaterThan(0);
});
