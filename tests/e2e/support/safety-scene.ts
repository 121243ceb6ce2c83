import { type FleetOptions, runFleet } from "@harrier/simulator";
import type { Stack } from "@harrier/stack";
import { eventually, uniqueName, withClient } from "@harrier/testkit";
import { type JobAction, readActions } from "./job.ts";
import { adminOf } from "./replicas.ts";
import { type ResilientAdmin, resilientAdmin } from "./resilient-admin.ts";

/** What devices do, and what time and people do to them. */
export interface Scene {
  lies: Pick<FleetOptions, "fail" | "fallBack" | "silent" | "flaky">;
  /** So many seconds pass, one step after the other, for those that have fallen silent. */
  seconds?: readonly number[];
  /** A person tries every failed action again, and the devices succeed then. */
  byHand?: boolean;
  /** Nothing that devices show is held against them, and a person decides about every claim: proven and refuted in turns. */
  decided?: boolean;
}

/** How a scene ended: all actions, and how many targets there are of each kind. */
export interface SceneResult {
  rolloutId: number;
  actions: readonly JobAction[];
  /** By status and attempt, such as `finished 1`; of the actions that count. */
  ends: Readonly<Record<string, number>>;
  /** The targets that run the new version by what they show, and those that the server believes to. */
  updated: number;
  inSync: number;
}

interface Page<T> {
  content: T[];
  total: number;
}

export const sceneDevices = 16;
const limitMs = 120_000;
/** The shortest limits that there are; time is moved rather than waited for. */
const limitSeconds = 60;
export const giveUpSeconds = 120;

const safety = {
  proof: { graceSeconds: 0, stable: { polls: 1 }, withinSeconds: 3_600 },
  limits: { downloadingSeconds: limitSeconds, installingSeconds: limitSeconds, giveUpSeconds },
  retry: { max: 2, delaySeconds: 0, codes: ["500-599"], withoutCode: false },
};

/** Lets devices show what they run, so that a claim of theirs can be proven. */
export async function showVersions(stack: Stack): Promise<void> {
  const rules = [{ attribute: "sw_version", equals: `\${set.version}` }];
  await eventually(() => adminOf(stack).configure("evidence.default", JSON.stringify(rules)), 30_000);
}

/** Plays a rollout with a safety policy to its end, whatever dies meanwhile. */
export async function playScene(stack: Stack, { lies, seconds = [], byHand = false, decided = false }: Scene): Promise<SceneResult> {
  const api = resilientAdmin(stack);
  const prefix = uniqueName("watched");
  const setId = await makeSet(api, prefix);
  const devices = await makeTargets(api, prefix);
  const rolloutId = await makeRollout(
    api,
    prefix,
    setId,
    decided ? { ...safety, proof: { withinSeconds: 7_200, graceSeconds: 3_600 } } : safety,
  );
  const fleet = (own: Scene["lies"]) => runFleet({ baseUrl: stack.baseUrl, devices, pollSeconds: 0.5, rangePieces: 1, fail: 0, ...own });

  let running = fleet(lies);
  try {
    for (const step of seconds) {
      await quiet(
        stack,
        rolloutId,
        "w.stage = 3 and w.due_at > now() + interval '5 seconds' and a.last_modified_at < now() - interval '2 seconds'",
      );
      await pass(stack, rolloutId, step);
    }
    if (decided) {
      await quiet(stack, rolloutId, "w.stage = 4");
      await running.stop();
      await decideAll(
        api,
        devices.map(({ controllerId }) => controllerId),
      );
    }
    await quiet(stack, rolloutId, "false");
    if (byHand) {
      await running.stop();
      await retryAll(
        api,
        devices.map(({ controllerId }) => controllerId),
      );
      running = fleet({});
      await quiet(stack, rolloutId, "false");
    }
  } finally {
    await running.stop();
  }
  const { content } = await api.get<Page<{ controllerId: string }>>(`targets?limit=500&q=controllerId==${prefix}-*`);
  const count = async (query: string) =>
    (await api.get<Page<object>>(`targets?limit=1&q=${encodeURIComponent(`controllerId==${prefix}-*;${query}`)}`)).total;
  return {
    rolloutId,
    actions: await readActions(
      api,
      content.map(({ controllerId }) => controllerId),
    ),
    ends: await endsOf(stack, rolloutId),
    updated: await count("attribute.sw_version==2.0"),
    inSync: await count("updateStatus==in_sync"),
  };
}

async function makeSet(api: ResilientAdmin, name: string): Promise<number> {
  const one = async (path: string, fields: object) => {
    const found = async () => {
      const { content } = await api.get<Page<{ id: number }>>(`${path}?q=name==${name}`);
      return content.length === 0 ? undefined : content;
    };
    const [made] = await api.create<{ id: number }[]>(path, [{ name, version: "2.0", type: "os", ...fields }], found);
    return made?.id as number;
  };
  const module = await one("softwaremodules", {});
  const body = new FormData();
  body.set("file", new Blob(["hello, device\n"]), "image.bin");
  const files = `softwaremodules/${module}/artifacts`;
  await api.create<object>(files, body, async () => (await api.get<object[]>(files))[0]);
  return await one("distributionsets", { modules: [{ id: module }] });
}

async function makeTargets(api: ResilientAdmin, prefix: string): Promise<{ controllerId: string; token: string }[]> {
  const devices = Array.from({ length: sceneDevices }, (_, n) => ({ controllerId: `${prefix}-${n}`, token: `token-${prefix}-${n}` }));
  const bodies = devices.map(({ controllerId, token }) => ({ controllerId, securityToken: token }));
  const all = async () => (await api.get<Page<object>>(`targets?q=controllerId==${prefix}-*`)).content;
  await api.create<object[]>("targets", bodies, all);
  return devices;
}

async function makeRollout(api: ResilientAdmin, name: string, setId: number, policy: object): Promise<number> {
  const body = {
    name,
    distributionSetId: setId,
    targetFilterQuery: `controllerId==${name}-*`,
    amountGroups: 1,
    errorCondition: { condition: "THRESHOLD", expression: "100" },
    startAt: 1,
    safety: policy,
  };
  const find = async () => (await api.get<Page<{ id: number }>>(`rollouts?q=name==${name}`)).content[0];
  return (await api.create<{ id: number }>("rollouts", body, find)).id;
}

/** Waits until every action of the rollout has begun, and nothing is awaited but what `but` says of a watch. */
function quiet(stack: Stack, rolloutId: number, but: string): Promise<void> {
  const text = `
    select (select count(*) from controller.actions where tenant_id = 1 and rollout_id = $1 and retried_by is null)::int as n,
           (select count(*) from controller.actions a
             where a.tenant_id = 1 and a.rollout_id = $1 and (a.active or a.status = 8 or a.tally <> 0)
               and not exists (select from controller.action_watches w where w.tenant_id = 1 and w.action_id = a.id and ${but}))::int as awaited`;
  return eventually(
    async () => {
      const row = await withClient(stack.adminDatabaseUrl as string, async (client) => (await client.query(text, [rolloutId])).rows[0]);
      if (row.n !== sceneDevices || row.awaited > 0) throw new Error(`${row.awaited} of ${row.n} actions are awaited`);
    },
    limitMs,
    200,
  );
}

/** Lets so many seconds pass for every watch of the rollout. */
function pass(stack: Stack, rolloutId: number, seconds: number): Promise<unknown> {
  return withClient(stack.adminDatabaseUrl as string, (client) =>
    client.query(
      `update controller.action_watches w
          set began_at = w.began_at - i, since = w.since - i, due_at = w.due_at - i
         from make_interval(secs => $2) i, controller.actions a
        where a.tenant_id = 1 and a.rollout_id = $1 and w.tenant_id = 1 and w.action_id = a.id`,
      [rolloutId, seconds],
    ),
  );
}

/** Tries the newest action of each target again. Where an answer was lost, the request may have been carried out: then it is a conflict. */
async function retryAll(api: ResilientAdmin, controllerIds: readonly string[]): Promise<void> {
  for (const controllerId of controllerIds) {
    const path = `targets/${controllerId}/actions`;
    const { content } = await api.get<Page<{ id: number }>>(`${path}?limit=1&sort=id:ASC`);
    const { answer, repeated } = await api.settle(`${path}/${content[0]?.id}/retry`, { method: "POST", body: {} });
    if (answer.status !== 201 && !(repeated && answer.status === 409))
      throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  }
}

/** Says of every claim, in turns, that it is proven or refuted. Where an answer was lost, the claim may have been decided: then it is a conflict. */
async function decideAll(api: ResilientAdmin, controllerIds: readonly string[]): Promise<void> {
  for (const [n, controllerId] of controllerIds.entries()) {
    const path = `targets/${controllerId}/actions`;
    const { content } = await api.get<Page<{ id: number }>>(`${path}?limit=1`);
    const body = { verdict: n % 2 === 0 ? "proven" : "refuted", remark: "seen in the lab" };
    const { answer, repeated } = await api.settle(`${path}/${content[0]?.id}/proof`, { method: "POST", body });
    if (answer.status !== 200 && !(repeated && answer.status === 409))
      throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  }
}

function endsOf(stack: Stack, rolloutId: number): Promise<Record<string, number>> {
  const text = `
    select case status when 0 then 'finished' when 1 then 'error' else status::text end || ' ' || attempt as "end", count(*)::int as n
      from controller.actions where tenant_id = 1 and rollout_id = $1 and retried_by is null group by 1`;
  return withClient(stack.adminDatabaseUrl as string, async (client) => {
    const { rows } = await client.query<{ end: string; n: number }>(text, [rolloutId]);
    return Object.fromEntries(rows.map(({ end, n }) => [end, n]));
  });
}
